import Glibc

/// A value that is set for each deployment, in `.env` files, and not in code.
///
///     let greeting = StringParam("GREETING", default: "Hello")
///     let functions = Functions(params: [greeting]) {
///         OnCall("greet") { (request: CallableRequest<String>) in "\(greeting.value), \(request.data)!" }
///     }
///
/// `value` reads the environment each time. Where the variable is not set it is the default, else the type's empty value.
public protocol FunctionParam: Sendable {
    /// The environment variable: capital letters, digits and underscores.
    var name: String { get }
    /// The type's name in the manifest.
    static var typeName: String { get }
    /// The default as the manifest has it.
    var defaultValue: JSONValue? { get }
    /// A name for people.
    var label: String? { get }
    /// What it is for.
    var description: String? { get }
}

extension FunctionParam {
    var declaration: JSONObject {
        var declaration = JSONObject()
        declaration["name"] = .string(name)
        declaration["type"] = .string(Self.typeName)
        declaration["default"] = defaultValue
        declaration["label"] = label.map { .string($0) }
        declaration["description"] = description.map { .string($0) }
        return declaration
    }

    /// The variable's text; nil where it is not set.
    var environmentText: String? { environment(name) }
}

/// The text of an environment variable.
func environment(_ name: String) -> String? {
    guard let text = getenv(name) else { return nil }
    return String(cString: text)
}
