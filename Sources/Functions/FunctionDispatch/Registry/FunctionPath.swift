import Configuration
import HearthBytes

/// Where a path leads: which function, and what of the path is the function's own (spec functions 10.2).
package struct FunctionPath {
    /// What was found.
    package enum Outcome {
        /// The function, and where in the path its own part begins (at the end: the part is `/`).
        case function(RegisteredFunction, ownPathStart: Int)
        /// The path has the emulator's shape, with this region and name, and no such function.
        case unknownFunction(region: String, name: String)
        /// The path is one of the database's.
        case database
        /// The path is one of the messaging service's.
        case messaging
        /// Anything else.
        case notFound
    }

    /// - Parameters:
    ///   - path: begins with `/`; without the query.
    ///   - host: the value of the Host header, for `{region}-{project}.…`.
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

    /// `/{name}[/...]`; the host's name may say which region is meant.
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

    /// `us-central1` of `us-central1-demo-hearth.example.com`; nil for a host that names no region of the project.
    private static func region(inHost host: Span<UInt8>, project: Span<UInt8>) -> String? {
        var end = 0
        while end < host.count, host[end] != UInt8(ascii: "."), host[end] != UInt8(ascii: ":") { end += 1 }
        let regionEnd = end - project.count - 1
        guard regionEnd > 0, host[regionEnd] == UInt8(ascii: "-") else { return nil }
        // Host names have no case (RFC 9110 section 4.2.3); ids of projects are in lower case.
        for index in 0..<project.count where host[regionEnd + 1 + index].lowercased != project[index] { return nil }
        return host.extracting(0..<regionEnd).string().lowercased()
    }
}

extension UInt8 {
    /// The byte in lower case where it is an ASCII letter.
    package var lowercased: UInt8 { self &- 65 < 26 ? self | 0x20 : self }
}
