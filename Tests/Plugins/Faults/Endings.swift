import Glibc
import HearthFunctions

/// Ways to end a process that is not one's own.
enum Faults {
    /// Reads past the end of an array, with a number that the compiler cannot see through.
    static func outOfRange() -> Int { [1, 2, 3][Int(getpid()) + 3] }

    static func abortNow() -> Int { abort() }

    static func segfault() -> Int {
        // Reads the first page, where nothing is mapped.
        UnsafePointer<Int>(bitPattern: 8)?.pointee ?? 0
    }

    static func exitZero() -> Int { exit(0) }

    /// Blocks the loop forever.
    static func spin() -> Int {
        var turns = 0
        while getpid() > 0 { turns &+= 1 }
        return turns
    }

    /// Takes memory, a mebibyte at a time, and touches each page of it.
    static func allocateForever() -> Int {
        var taken = 0
        while let block = malloc(1 << 20) {
            memset(block, 1, 1 << 20)
            // The block is passed to an opaque function: otherwise the optimizer drops it, sees a count that must overflow, and traps.
            _ = write(-1, block, 1)
            taken += 1
        }
        return taken
    }

    /// Takes away what the worker talks through.
    static func closeDescriptors() -> Int {
        var closed = 0
        for descriptor in 0...1000 where close(Int32(descriptor)) == 0 { closed += 1 }
        return closed
    }
}
