import Configuration
import FunctionWorker
import RealtimeDatabase

extension PluginManifest {
    /// Checks the event triggers of all functions.
    ///
    /// - Throws: a message with all invalid triggers.
    package func checkTriggers() throws(PluginRefusal) {
        let problems = functions.compactMap { function -> String? in
            guard case .event(let trigger) = function.trigger else { return nil }
            do throws(PathPatternError) {
                _ = try trigger.declaration(of: function.name)
                _ = try trigger.userTrigger(of: function.name)
                return nil
            } catch {
                return "endpoints.\(function.name).eventTrigger: \(error)"
            }
        }
        if !problems.isEmpty { throw PluginRefusal("\(source): \(problems.joined(separator: "; "))") }
    }
}

extension EventTrigger {
    /// The trigger of the function `name`; nil for events of another service than the database.
    ///
    /// - Throws: the reason why its patterns are invalid.
    func declaration(of name: String) throws(PathPatternError) -> TriggerDeclaration? {
        guard let kind = TriggerKind(eventType: eventType), kind.isOfValues else { return nil }
        if let resource = filters["resource"] {
            let (instance, path) = try Self.parse(resource: resource)
            return try TriggerDeclaration(
                function: name, kind: kind, pattern: PathPattern(parsing: path), instance: InstancePattern(parsing: instance))
        }
        guard let ref = pathPatterns["ref"] ?? filters["ref"] else { throw PathPatternError("the trigger has no \"ref\"") }
        let instance = filters["instance"] ?? pathPatterns["instance"]
        return try TriggerDeclaration(
            function: name, kind: kind, pattern: PathPattern(parsing: ref),
            instance: instance.map { text throws(PathPatternError) in try InstancePattern(parsing: text) } ?? .any)
    }

    /// The trigger of the function `name` for events of users; nil for other events.
    ///
    /// - Throws: the filter that is not one of such events.
    func userTrigger(of name: String) throws(PathPatternError) -> UserTrigger? {
        guard let kind = TriggerKind(eventType: eventType), kind.isOfUsers else { return nil }
        // The resource of the first generation names the project.
        for filter in filters.keys.sorted() where filter != "tenantid" && filter != "resource" {
            throw PathPatternError("events of users have no \"\(filter)\"; their one filter is \"tenantid\"")
        }
        if let pattern = pathPatterns.keys.min() { throw PathPatternError("events of users have no \"\(pattern)\" with a pattern") }
        return UserTrigger(function: name, kind: kind, tenant: filters["tenantid"])
    }

    /// Parses the resource of a first-generation trigger: `projects/_/instances/NAME/refs/PATH`.
    private static func parse(resource: String) throws(PathPatternError) -> (instance: String, path: String) {
        let parts = resource.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count >= 5, parts[0] == "projects", parts[2] == "instances", parts[4] == "refs" else {
            throw PathPatternError("expected a resource \"projects/_/instances/NAME/refs/PATH\", found \"\(resource)\"")
        }
        return (String(parts[3]), parts.count > 5 ? String(parts[5]) : "")
    }
}
