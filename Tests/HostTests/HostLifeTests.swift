import Testing

@testable import Host

@Suite("The life of a host")
struct HostLifeTests {
    private static let states: [HostLife.State] = [.starting, .serving, .upgrading, .restoring, .succeeded, .stopping, .ending, .ended]

    /// The transitions that can be; all others are refused.
    private static let transitions: [HostLife.State: [HostLife.State]] = [
        .starting: [.serving, .stopping], .serving: [.upgrading, .restoring, .stopping],
        .upgrading: [.serving, .succeeded, .stopping], .restoring: [.serving, .succeeded, .stopping],
        .succeeded: [.stopping, .ending], .stopping: [.ending], .ending: [.ended], .ended: [],
    ]

    /// A shortest way from the start to each state.
    private static let ways: [HostLife.State: [HostLife.State]] = [
        .starting: [], .serving: [.serving], .upgrading: [.serving, .upgrading], .restoring: [.serving, .restoring],
        .succeeded: [.serving, .upgrading, .succeeded], .stopping: [.stopping], .ending: [.stopping, .ending],
        .ended: [.stopping, .ending, .ended],
    ]

    private static func life(in state: HostLife.State) throws -> HostLife {
        var life = HostLife()
        for next in try #require(ways[state]) { try life.enter(next) }
        return life
    }

    @Test("each state has its successors and no others", arguments: states)
    func successors(state: HostLife.State) throws {
        for next in Self.states {
            var life = try Self.life(in: state)
            if Self.transitions[state]?.contains(next) == true {
                try life.enter(next)
                #expect(life.state == next)
            } else {
                do throws(HostLife.Refusal) {
                    try life.enter(next)
                    Issue.record("\(state) became \(next)")
                } catch {
                    #expect(error == HostLife.Refusal(from: state, to: next))
                }
                #expect(life.state == state)
            }
        }
    }

    @Test("a refusal names both states")
    func refusals() {
        #expect("\(HostLife.Refusal(from: .stopping, to: .serving))" == "a host that is stopping cannot become serving")
    }

    @Test("a host that was asked to stop, or whose place is taken, does not go on with its start", arguments: states)
    func goesOn(state: HostLife.State) throws {
        let life = try Self.life(in: state)
        #expect(life.goesOn == [.starting, .serving, .upgrading, .restoring].contains(state))
        #expect(life.isHandingOver == [.upgrading, .restoring].contains(state))
        #expect(!life.isStopAsked)
    }
}
