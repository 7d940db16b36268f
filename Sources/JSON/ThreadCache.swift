#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Working memory that a thread keeps from one decode or encode to the next.
final class ThreadCache {
    /// Where a decode writes its tape, when no decode of this thread uses it now.
    var document: Document?
    /// Where an encode gathers its text, when no encode of this thread uses it now.
    var encoding: Encoding?

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let failure = pthread_key_create(&key) { pointer in
            if let pointer { Unmanaged<ThreadCache>.fromOpaque(pointer).release() }
        }
        precondition(failure == 0, "no thread-specific key is left")
        return key
    }()

    /// The cache of the calling thread.
    @inline(__always)
    static var current: ThreadCache {
        if let pointer = pthread_getspecific(key) { return Unmanaged<ThreadCache>.fromOpaque(pointer).takeUnretainedValue() }
        return makeCurrent()
    }

    @inline(never)
    private static func makeCurrent() -> ThreadCache {
        let cache = ThreadCache()
        pthread_setspecific(key, Unmanaged.passRetained(cache).toOpaque())
        return cache
    }
}
