public import Accounts

/// The functions that sign-ups, sign-ins and messages to users wait for.
public struct BlockingCaller: Sendable {
    /// The end of a function's call.
    public enum Outcome: Sendable {
        /// The function's answer, in JSON; empty for none.
        case answered([UInt8])
        /// The function has refused: the status in capitals, and the text.
        case refused(status: String, message: String)
        /// The function did not answer in time.
        case late
        /// The function could not run, or crashed.
        case failed(String)
        /// There is no such function any more.
        case missing
    }

    /// The kinds with a function, each with the credentials that it sees: of `idToken`, `accessToken` and `refreshToken`. Waits until the functions
    /// are known; nil if that takes too long.
    public var kinds: @Sendable () async -> [BlockingKind: Set<String>]?
    /// Calls a function with an event and a payload, both in JSON.
    public var call: @Sendable (_ kind: BlockingKind, _ event: [UInt8], _ payload: [UInt8]) async -> Outcome

    /// A caller of functions.
    public init(
        kinds: @escaping @Sendable () async -> [BlockingKind: Set<String>]?,
        call: @escaping @Sendable (_ kind: BlockingKind, _ event: [UInt8], _ payload: [UInt8]) async -> Outcome
    ) {
        self.kinds = kinds
        self.call = call
    }

    /// No functions.
    public static let none = BlockingCaller(kinds: { [:] }, call: { _, _, _ in .missing })
}
