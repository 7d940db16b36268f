import Configuration
import FunctionDispatch
import RealtimeDatabase

/// The functions with event triggers, in the form for databases and for delivery.
package struct EventFunctions {
    /// The triggers, for databases.
    package let table: TriggerTable
    /// The triggers of users, for the store of users.
    package let users: [UserTrigger]
    /// The functions, by name, for delivery.
    package let targets: [String: any EventTarget]
    /// The names of functions that cannot run now, so that their events wait.
    package let waiting: Set<String>
    /// A sentence for each function with invalid patterns. Such a function never runs.
    package let problems: [String]

    /// Selects the functions with event triggers.
    ///
    /// - Parameter project: the id of the project, for events of users.
    package init(_ publication: Publication, project: String) {
        var declarations: [TriggerDeclaration] = []
        var users: [UserTrigger] = []
        var targets: [String: any EventTarget] = [:]
        var problems: [String] = []
        for function in publication.functions {
            guard case .event(let trigger) = function.trigger else { continue }
            do throws(PathPatternError) {
                if let user = try trigger.userTrigger(of: function.name) {
                    users.append(user)
                    targets[function.name] = EventFunction(function, project: project)
                    continue
                }
                guard let declaration = try trigger.declaration(of: function.name) else {
                    problems.append("\(function.name): this host has no events of type \"\(trigger.eventType)\"")
                    continue
                }
                declarations.append(declaration)
                targets[function.name] = EventFunction(function, project: project)
            } catch {
                problems.append("\(function.name): \(error)")
            }
        }
        // These declarations were checked when they were deployed.
        declarations += publication.waitingTriggers.compactMap { (try? $0.value.declaration(of: $0.key)) ?? nil }
        users += publication.waitingTriggers.compactMap { (try? $0.value.userTrigger(of: $0.key)) ?? nil }
        self.users = users
        waiting = Set(publication.waitingTriggers.keys)
        table = TriggerTable(declarations)
        self.targets = targets
        self.problems = problems
    }
}

extension DeliverySettings {
    package init(_ settings: TriggerSettings) {
        self.init()
        chainDepthMax = settings.chainDepth
        deadLetters.countMax = settings.deadLetters
        deadLetters.bytesMax = settings.deadLetterBytes
        retries.firstMilliseconds = Int64(settings.retryMinSeconds * 1000)
        retries.mostMilliseconds = Int64(settings.retryMaxSeconds * 1000)
        retries.ageMilliseconds = settings.retryAgeSeconds.map { Int64($0 * 1000) }
    }
}
