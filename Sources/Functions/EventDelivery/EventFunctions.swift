import Configuration
import FunctionDispatch
import RealtimeDatabase

/// The functions that run because of events, as databases and the delivery want them.
package struct EventFunctions {
    /// Which writes raise events.
    package let table: TriggerTable
    /// By name, what the events are given to.
    package let targets: [String: any EventTarget]
    /// The names of those whose events wait for them.
    package let waiting: Set<String>
    /// A sentence for each function whose patterns cannot be used; it never runs.
    package let problems: [String]

    /// Functions of other triggers are left out.
    package init(_ publication: Publication) {
        var declarations: [TriggerDeclaration] = []
        var targets: [String: any EventTarget] = [:]
        var problems: [String] = []
        for function in publication.functions {
            guard case .event(let trigger) = function.trigger else { continue }
            do throws(PathPatternError) {
                guard let declaration = try trigger.declaration(of: function.name) else {
                    problems.append("\(function.name): this host has no events of type \"\(trigger.eventType)\"")
                    continue
                }
                declarations.append(declaration)
                targets[function.name] = EventFunction(function)
            } catch {
                problems.append("\(function.name): \(error)")
            }
        }
        // Declarations were checked at deployment.
        declarations += publication.waitingTriggers.compactMap { (try? $0.value.declaration(of: $0.key)) ?? nil }
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
