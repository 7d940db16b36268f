/// One function: its name, its options and what runs.
public struct FunctionDefinition: Sendable {
    /// The names of the groups around it, then its own.
    var path: [String]
    var options: Options
    let trigger: Trigger
    var generation = Generation.second
    let handler: FunctionHandler

    enum Trigger: Sendable {
        case callable, http
        case database(DatabaseTrigger)
    }

    /// What clients call it: group and name joined by a dash.
    var name: String { path.joined(separator: "-") }

    /// What the Firebase tools call the entry point: group and name joined by a dot.
    var entryPoint: String { path.joined(separator: ".") }

    func applying(defaults: Options) -> FunctionDefinition {
        var merged = self
        merged.options = options.filled(from: defaults)
        return merged
    }
}
