import Synchronization

@testable import Tokens

/// A clock that a test moves.
final class FakeClock: Sendable {
    private let time: Atomic<Int>

    init(_ time: Int = noon) { self.time = Atomic(time) }

    var clock: TokenClock { TokenClock { self.time.load(ordering: .acquiring) } }

    func advance(_ seconds: Int) { time.add(seconds, ordering: .acquiringAndReleasing) }
}
