import HearthBytes
import HTTP
import Tree

/// The meaning of a request's path.
enum RESTTarget {
    /// A node, or its priority.
    case tree(Location)
    /// `/.info/...`, which clients provide themselves, so it is empty here (spec database 4).
    case clientInfo
    /// `/.settings/NAME.json`.
    case setting(String)
    /// `/.inspect/NAME.json`.
    case inspection(String)

    /// Whether a request to `path` is for the database.
    static func claims(_ path: Span<UInt8>) -> Bool {
        path.count >= 6 && path.extracting(path.count - 5..<path.count).equals(".json")
    }

    /// Parses a claimed path.
    init(_ path: Span<UInt8>) throws(RESTError) {
        let name = path.extracting(0..<path.count - 5)
        if name.count > 2, name[1] == UInt8(ascii: ".") {
            if Self.begins(name, "/.settings/") {
                self = .setting(name.extracting(11..<name.count).string())
                return
            }
            if Self.begins(name, "/.inspect/") {
                self = .inspection(name.extracting(10..<name.count).string())
                return
            }
            if name.equals("/.info") || Self.begins(name, "/.info/") {
                self = .clientInfo
                return
            }
        }
        do throws(PathError) {
            self = .tree(try Location(parsing: name, percentEncoded: true))
        } catch {
            throw .badRequest(error.message)
        }
    }

    private static func begins(_ text: Span<UInt8>, _ start: StaticString) -> Bool {
        text.count >= start.utf8CodeUnitCount && text.extracting(0..<start.utf8CodeUnitCount).equals(start)
    }
}

/// Extracts the namespace from the host of a request: the first label of `NS.firebaseio.com`, `NS.REGION.firebasedatabase.app` and
/// `NS.localhost` (spec database 2.1). Other hosts have no namespace.
struct NamespaceHosts {
    private static let suffixes = [".firebaseio.com", ".firebasedatabase.app", ".localhost"]

    func namespace(of host: Span<UInt8>) -> String? {
        var end = 0
        var dot = -1
        while end < host.count, host[end] != UInt8(ascii: ":") {
            if dot < 0, host[end] == UInt8(ascii: ".") { dot = end }
            end += 1
        }
        // Addresses begin with a digit or a bracket, as few namespaces do. These are checked below.
        guard dot > 0, end > dot, !(48...57).contains(host[end - 1]) else { return nil }
        let rest = host.extracting(dot..<end).string().lowercased()
        guard Self.suffixes.contains(where: { rest.hasSuffix($0) }) else { return nil }
        return host.extracting(0..<dot).string().lowercased()
    }
}
