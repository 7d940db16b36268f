import Glibc
import HearthFunctions

/// Crashes of every kind, each in a separate function, with values that the compiler cannot see through.
enum Crashes {
    static func crash(_ kind: String) async -> Int {
        switch kind {
        case "nil": return unwrapsNothing(kind == "nil" ? nil : 1)
        case "overflow": return Int(overflows(Int32(getpid())))
        case "message": return tellsWhy(kind)
        case "recursion": return recurses(Int(getpid()))
        case "later": return await crashesLater(kind)
        case "thread": return await crashesOnThread()
        default: return 0
        }
    }

    @inline(never) static func unwrapsNothing(_ value: Int?) -> Int { value! }

    @inline(never) static func overflows(_ value: Int32) -> Int32 { (value | 0x4000_0000) * 4 }

    @inline(never) static func tellsWhy(_ kind: String) -> Int { fatalError("this is why: \(kind)") }

    @inline(never) static func recurses(_ depth: Int) -> Int {
        var place = depth
        // Its address is passed to an opaque function, so that it is not turned into a loop.
        return write(-1, &place, 8) > 0 ? depth : recurses(depth &+ 1) &+ place
    }

    @inline(never) static func crashesLater(_ kind: String) async -> Int {
        try? await Task.sleep(for: .milliseconds(20))
        return unwrapsNothing(kind == "later" ? nil : 1)
    }

    /// The loop waits meanwhile.
    static func crashesOnThread() async -> Int {
        var thread = pthread_t()
        pthread_create(&thread, nil, { _ in
            usleep(20_000)
            exit(Int32(truncatingIfNeeded: Faults.segfault()))
        }, nil)
        try? await Task.sleep(for: .seconds(60))
        return 0
    }
}
