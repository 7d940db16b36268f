/// The state in the life of a host. Only ``enter(_:)`` changes it.
///
/// ```
/// starting ─> serving <─> upgrading, restoring ─> succeeded
///    │           │                 │                  │
///    └───────────┴─> stopping <────┴──────────────────┤
///                        └─────> ending <─────────────┘ ─> ended
/// ```
struct HostLife {
    enum State: Equatable {
        /// Restores what is deployed; takes over the databases of another host.
        case starting
        /// Functions can be called.
        case serving
        /// A new process is being made ready to take over, with this host's data or with restored data. It may still fail.
        case upgrading
        case restoring
        /// The new process serves; this one finishes the requests that have started here.
        case succeeded
        /// Accepts no more connections; requests that have started are answered.
        case stopping
        /// Every request is answered: workers end and databases are closed.
        case ending
        /// Only the process itself has to end.
        case ended
    }

    /// An invalid transition.
    struct Refusal: Error, Equatable, CustomStringConvertible {
        let from: State
        let to: State

        var description: String { "a host that is \(from) cannot become \(to)" }
    }

    private(set) var state = State.starting
    /// Whether a signal, or a failure of the start, has asked the host to stop.
    private(set) var isStopAsked = false

    /// Changes the state.
    ///
    /// - Throws: `Refusal` if the transition is invalid. Then nothing changes.
    mutating func enter(_ next: State) throws(Refusal) {
        guard Self.successors(of: state).contains(next) else { throw Refusal(from: state, to: next) }
        state = next
    }

    /// Remembers that the host was asked to stop, regardless of its state.
    mutating func askToStop() { isStopAsked = true }

    private static func successors(of state: State) -> [State] {
        switch state {
        case .starting: [.serving, .stopping]
        case .serving: [.upgrading, .restoring, .stopping]
        case .upgrading, .restoring: [.serving, .succeeded, .stopping]
        case .succeeded: [.stopping, .ending]
        case .stopping: [.ending]
        case .ending: [.ended]
        case .ended: []
        }
    }

    /// Whether a new process is being made ready to take over.
    var isHandingOver: Bool { state == .upgrading || state == .restoring }

    /// Whether the host continues to start or to serve.
    var goesOn: Bool {
        switch state {
        case .starting, .serving, .upgrading, .restoring: true
        case .succeeded, .stopping, .ending, .ended: false
        }
    }
}
