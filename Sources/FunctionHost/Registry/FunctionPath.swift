import Bytes

/// Where a path leads: which function, and what of the path is the function's own (spec functions 10.2).
struct FunctionPath {
    /// What was found.
    enum Outcome {
        /// The function, and where in the path its own part begins (at the end: the part is `/`).
        case function(RegisteredFunction, ownPathStart: Int)
        /// The path has the emulator's shape, with this region and name, and no such function.
        case unknownFunction(region: String, name: String)
        /// Anything else.
        case notFound
    }

    /// - Parameters:
    ///   - path: begins with `/`; without the query.
    ///   - host: the value of the Host header, for `{region}-{project}.…`.
    static func resolve(_ path: Span<UInt8>, host: Span<UInt8>, project: String, in registry: FunctionRegistry) -> Outcome {
        if let function = registry.function(atPath: path) { return .function(function, ownPathStart: path.count) }
        let firstEnd = segmentEnd(path, from: 1)
        let secondEnd = segmentEnd(path, from: firstEnd + 1)
        let thirdEnd = segmentEnd(path, from: secondEnd + 1)
        if firstEnd < path.count, secondEnd < path.count, path.extracting(1..<firstEnd).isEqual(to: Array(project.utf8).span) {
            if let function = registry.function(atPath: path.extracting(0..<thirdEnd)) {
                return .function(function, ownPathStart: thirdEnd)
            }
            return .unknownFunction(
                region: path.extracting(firstEnd + 1..<secondEnd).string(), name: path.extracting(secondEnd + 1..<thirdEnd).string())
        }
        if firstEnd < path.count, let function = registry.function(atPath: path.extracting(0..<firstEnd)) {
            return .function(function, ownPathStart: firstEnd)
        }
        if let region = region(inHost: host, project: project), firstEnd > 1 {
            return .unknownFunction(region: region, name: path.extracting(1..<firstEnd).string())
        }
        return .notFound
    }

    private static func segmentEnd(_ path: Span<UInt8>, from start: Int) -> Int {
        var index = min(start, path.count)
        while index < path.count, path[index] != UInt8(ascii: "/") { index += 1 }
        return index
    }

    /// `us-central1` of `us-central1-demo-hearth.example.com`.
    private static func region(inHost host: Span<UInt8>, project: String) -> String? {
        let label = host.string().prefix { $0 != "." && $0 != ":" }
        guard label.hasSuffix("-\(project)") else { return nil }
        return String(label.dropLast(project.count + 1))
    }
}
