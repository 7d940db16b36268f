import Testing

@testable import FunctionDispatch

@Suite("Restart policy")
struct RestartPolicyTests {
    @Test("the first crash costs nothing, each further one doubles the wait")
    func backsOff() {
        var policy = RestartPolicy(limit: 10, windowSeconds: 60)
        expect(policy.mayStart(now: 0))
        policy.didCrash(now: 1000)
        expect(policy.mayStart(now: 1000))
        policy.didCrash(now: 1000)
        expect(!policy.mayStart(now: 1099))
        expect(policy.mayStart(now: 1100))
        policy.didCrash(now: 1100)
        expect(!policy.mayStart(now: 1299))
        expect(policy.mayStart(now: 1300))
    }

    @Test("calls wait for the end of a short back-off, unless their time is over before")
    func isWorthWaiting() {
        var policy = RestartPolicy(limit: 100, windowSeconds: 60)
        expect(!policy.isWorthWaiting(now: 0, deadline: .max))
        for _ in 0..<2 { policy.didCrash(now: 1000) }
        expect(policy.isWorthWaiting(now: 1000, deadline: 1101))
        expect(!policy.isWorthWaiting(now: 1000, deadline: 1100))
        expect(!policy.isWorthWaiting(now: 1100, deadline: .max))
        for _ in 0..<5 { policy.didCrash(now: 1000) }
        expect(policy.notBefore == 4200)
        expect(!policy.isWorthWaiting(now: 1000, deadline: .max))
        expect(policy.isWorthWaiting(now: 2200, deadline: .max))
    }

    @Test("too many crashes within the window give the pool up for a while")
    func givesUp() {
        var policy = RestartPolicy(limit: 3, windowSeconds: 60)
        for now in [0, 1000, 2000] as [UInt64] { policy.didCrash(now: now) }
        expect(policy.hasGivenUp)
        expect(!policy.mayStart(now: 2000 + RestartPolicy.givenUpMilliseconds - 1))
        expect(policy.mayStart(now: 2000 + RestartPolicy.givenUpMilliseconds))
    }

    @Test("crashes far apart are each a first one")
    func forgetsWithTime() {
        var policy = RestartPolicy(limit: 2, windowSeconds: 1)
        policy.didCrash(now: 0)
        policy.didCrash(now: 5000)
        expect(!policy.hasGivenUp)
        expect(policy.mayStart(now: 5000))
    }

    @Test("an answer forgives what crashed before")
    func forgives() {
        var policy = RestartPolicy(limit: 3, windowSeconds: 60)
        policy.didCrash(now: 0)
        policy.didCrash(now: 0)
        policy.didAnswer()
        expect(policy.mayStart(now: 0))
        policy.didCrash(now: 0)
        expect(!policy.hasGivenUp)
    }
}

/// `#expect` takes an expression apart, which calls that change their value do not allow.
private func expect(_ holds: Bool, at location: SourceLocation = #_sourceLocation) { #expect(holds, sourceLocation: location) }
