import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A thread's working memory for its next decodes and encodes.
///
/// It is never freed: a decoder or encoder that outlives its work points to valid memory and can tell that it is stale. The pool of a
/// thread that ends goes to another thread, so there is only as much memory as was once in use at the same time.
struct ThreadPool: ~Copyable {
    /// The first free working memory of decodes. `Document` knows its type.
    var freeDocuments: UnsafeMutableRawPointer?
    /// The first free working memory of encodes. `Encoding` knows its type.
    var freeEncodings: UnsafeMutableRawPointer?
    private var next: UnsafeMutablePointer<ThreadPool>?

    /// Pools of threads that have ended, for threads that begin.
    private static let orphans = Mutex<Orphans>(Orphans())

    // The pointers lead to memory of which the mutex is the only owner.
    private struct Orphans: @unchecked Sendable {
        var first: UnsafeMutablePointer<ThreadPool>?
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let failure = pthread_key_create(&key) { pool in
            if let pool { ThreadPool.abandon(pool.assumingMemoryBound(to: ThreadPool.self)) }
        }
        precondition(failure == 0, "no thread-specific key is left")
        return key
    }()

    /// The pool of the calling thread.
    @inline(__always)
    static var current: UnsafeMutablePointer<ThreadPool> {
        if let pool = pthread_getspecific(key) { return pool.assumingMemoryBound(to: ThreadPool.self) }
        return adopt()
    }

    @inline(never)
    private static func adopt() -> UnsafeMutablePointer<ThreadPool> {
        let orphan = orphans.withLock { orphans in
            let first = orphans.first
            orphans.first = first?.pointee.next
            return Orphans(first: first)
        }
        let pool = orphan.first ?? {
            let pool = UnsafeMutablePointer<ThreadPool>.allocate(capacity: 1)
            pool.initialize(to: ThreadPool())
            return pool
        }()
        pthread_setspecific(key, pool)
        return pool
    }

    private static func abandon(_ pool: UnsafeMutablePointer<ThreadPool>) {
        let orphan = Orphans(first: pool)
        orphans.withLock { orphans in
            orphan.first?.pointee.next = orphans.first
            orphans = orphan
        }
    }
}
