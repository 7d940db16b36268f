import Configuration

/// Describes the differences between the options of two versions.
enum OptionsDifference {
    /// For example `timeoutSeconds 60 -> 30`. In the order of the documentation.
    static func texts(from old: FunctionOptions, to new: FunctionOptions) -> [String] {
        var texts: [String] = []
        func compare<Value: Equatable>(_ name: String, _ path: KeyPath<FunctionOptions, Value>, _ text: (Value) -> String?) {
            let (before, after) = (old[keyPath: path], new[keyPath: path])
            guard before != after else { return }
            if let before = text(before), let after = text(after) { texts.append("\(name) \(before) -> \(after)") } else { texts.append(name) }
        }
        compare("region", \.regions) { $0.joined(separator: "+") }
        compare("memory", \.memoryBytes) { "\($0 >> 20)MiB" }
        compare("cpu", \.cpu) { number($0) }
        compare("concurrency", \.concurrency) { "\($0)" }
        compare("timeoutSeconds", \.timeoutSeconds) { number($0) }
        compare("minInstances", \.minInstances) { "\($0)" }
        compare("maxInstances", \.maxInstances) { "\($0)" }
        compare("enforceAppCheck", \.enforceAppCheck) { "\($0)" }
        compare("consumeAppCheckToken", \.consumeAppCheckToken) { "\($0)" }
        compare("cors", \.cors) { _ in nil }
        compare("heartbeatSeconds", \.heartbeat) { _ in nil }
        compare("heartbeatStyle", \.heartbeatStyle) { $0.rawValue }
        compare("secrets", \.secrets) { $0.isEmpty ? "none" : $0.joined(separator: "+") }
        compare("labels", \.labels) { _ in nil }
        compare("environmentVariables", \.environment) { _ in nil }
        compare("omit", \.omit) { "\($0)" }
        compare("ingressSettings", \.ingress) { $0.rawValue }
        compare("invoker", \.invoker) { _ in nil }
        compare("retry", \.retry) { "\($0)" }
        return texts
    }

    private static func number(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }
}
