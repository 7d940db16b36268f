import HearthBytes

/// A path of the Cloud Tasks interface: `/v2/projects/P/locations/L/queues/Q/tasks`, or that of a task below it. Admin SDKs leave `/v2` out when
/// they speak to an emulator.
package struct TaskPath: Sendable, Equatable {
    package var project: String
    package var location: String
    package var queue: String
    /// The id of a task; nil for all tasks of the queue.
    package var task: String?
    /// Whether the client takes this host for an emulator.
    package var isEmulated: Bool

    /// Nil for a path of another service.
    package init?(_ path: Span<UInt8>) {
        guard Self.claims(path) else { return nil }
        let parts = path.string().split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        isEmulated = parts.first == "projects"
        let rest = isEmulated ? parts[...] : parts.dropFirst()
        let names = Array(rest)
        guard names.count == 7 || names.count == 8, names[0] == "projects", names[2] == "locations", names[4] == "queues", names[6] == "tasks" else {
            return nil
        }
        (project, location, queue) = (names[1], names[3], names[5])
        task = names.count == 8 ? names[7] : nil
        guard !project.isEmpty, !location.isEmpty, !queue.isEmpty, task != "" else { return nil }
    }

    /// Whether a path may belong to the interface, at little cost.
    package static func claims(_ path: Span<UInt8>) -> Bool {
        begins(path, "/v2/projects/") || begins(path, "/projects/")
    }

    private static func begins(_ path: Span<UInt8>, _ start: StaticString) -> Bool {
        path.count > start.utf8CodeUnitCount && path.extracting(0..<start.utf8CodeUnitCount).equals(start)
    }

    /// `projects/P/locations/L/queues/Q/tasks/ID`.
    func name(of id: String) -> String { "projects/\(project)/locations/\(location)/queues/\(queue)/tasks/\(id)" }

    /// The id in the full name of a task of this queue; nil if it is another one's.
    func id(inName name: String) -> String? {
        let start = self.name(of: "")
        return name.hasPrefix(start) ? String(name.dropFirst(start.count)) : nil
    }
}
