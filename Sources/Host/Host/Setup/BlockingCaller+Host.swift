import Accounts
import Authentication
import Configuration
import EventDelivery

extension BlockingCaller {
    /// Calls the deployed functions.
    init(_ functions: BlockingFunctions) {
        self.init(
            kinds: {
                guard let triggers = await functions.triggers() else { return nil }
                var kinds: [BlockingKind: Set<String>] = [:]
                for kind in BlockingKind.allCases {
                    if let trigger = triggers[kind.eventType] { kinds[kind] = trigger.credentials }
                }
                return kinds
            },
            call: { kind, event, payload in
                switch await functions.call(kind.eventType, event: event, payload: payload) {
                case .answered(let bytes): .answered(bytes)
                case .refused(let status, let message): .refused(status: status, message: message)
                case .late: .late
                case .failed(let reason): .failed(reason)
                case .missing: .missing
                }
            })
    }
}
