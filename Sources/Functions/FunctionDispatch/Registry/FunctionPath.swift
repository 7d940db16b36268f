import Configuration
import HearthBytes

/// Resolves the path of a request to a function and the function's own part of the path (spec functions 10.2).
package struct FunctionPath {
    /// The target of a path.
    package enum Outcome {
        /// A function, and the index in the path where its own part begins. At the end of the path, the own part is `/`.
        case function(RegisteredFunction, ownPathStart: Int)
        /// No function, but the path has the form of the emulator's URLs, with this region and name.
        case unknownFunction(region: String, name: String)
        /// A path of the database.
        case database
        /// A path of the messaging service.
        case messaging
        /// Anything else.
        case notFound
    }

    /// - Parameters:
    ///   - path: the path without the query, beginning with `/`.
    ///   - host: the value of the Host header, which may be `{region}-{project}.…`.
    package static func resolve(_ path: Span<UInt8>, host: Span<UInt8>, in registry: FunctionRegistry) -> Outcome {
        let projectBytes = registry.projectBytes
        let project = projectBytes.span
        let firstEnd = segmentEnd(path, from: 1)
        guard firstEnd < path.count, path.extracting(1..<firstEnd).isEqual(to: project) else {
            return resolveName(path, firstEnd, host: host, project: project, in: registry)
        }
        if let function = registry.function(atPath: path) { return .function(function, ownPathStart: path.count) }
        let secondEnd = segmentEnd(path, from: firstEnd + 1)
        let thirdEnd = segmentEnd(path, from: secondEnd + 1)
        if thirdEnd < path.count, let function = registry.function(atPath: path.extracting(0..<thirdEnd)) {
            return .function(function, ownPathStart: thirdEnd)
        }
        guard secondEnd < path.count else { return resolveName(path, firstEnd, host: host, project: project, in: registry) }
        return .unknownFunction(
            region: path.extracting(firstEnd + 1..<secondEnd).string(), name: path.extracting(secondEnd + 1..<thirdEnd).string())
    }

    /// Resolves `/{name}[/...]`. The host name may name the region.
    private static func resolveName(
        _ path: Span<UInt8>, _ nameEnd: Int, host: Span<UInt8>, project: Span<UInt8>, in registry: FunctionRegistry
    ) -> Outcome {
        let region = region(inHost: host, project: project)
        if let function = registry.function(atPath: path.extracting(0..<nameEnd)),
            region.map({ function.options.regions.contains($0) }) ?? true
        {
            return .function(function, ownPathStart: nameEnd)
        }
        guard let region, nameEnd > 1 else { return .notFound }
        return .unknownFunction(region: region, name: path.extracting(1..<nameEnd).string())
    }

    private static func segmentEnd(_ path: Span<UInt8>, from start: Int) -> Int {
        var index = min(start, path.count)
        while index < path.count, path[index] != UInt8(ascii: "/") { index += 1 }
        return index
    }

    /// The region in a host name, such as `us-central1` in `us-central1-demo-hearth.example.com`; nil if it names none for the project.
    private static func region(inHost host: Span<UInt8>, project: Span<UInt8>) -> String? {
        var end = 0
        while end < host.count, host[end] != UInt8(ascii: "."), host[end] != UInt8(ascii: ":") { end += 1 }
        let regionEnd = end - project.count - 1
        guard regionEnd > 0, host[regionEnd] == UInt8(ascii: "-") else { return nil }
        // Host names are case-insensitive (RFC 9110 section 4.2.3); project ids are in lower case.
        for index in 0..<project.count where host[regionEnd + 1 + index].lowercased != project[index] { return nil }
        return host.extracting(0..<regionEnd).string().lowercased()
    }
}

extension UInt8 {
    /// The byte, in lower case if it is an ASCII letter.
    package var lowercased: UInt8 { self &- 65 < 26 ? self | 0x20 : self }
}
