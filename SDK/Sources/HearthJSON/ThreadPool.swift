import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Working memory that waits for a thread's next decode or encode.
///
/// Nothing of it is ever freed, so that a decoder or encoder that outlives its work points to memory that can tell. There is as
/// much of it as was once in use at the same time; what an ending thread leaves is taken up by others.
struct ThreadPool: ~Copyable {
    private var documents: UnsafeMutablePointer<DocumentStorage>?
    private var encodings: UnsafeMutablePointer<EncodingText>?
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

    @inline(__always)
    mutating func takeDocument() -> UnsafeMutablePointer<DocumentStorage> {
        guard let document = documents else { return DocumentStorage.make() }
        documents = document.pointee.nextFree
        return document
    }

    @inline(__always)
    mutating func giveBack(_ document: UnsafeMutablePointer<DocumentStorage>) {
        guard document.pointee.retire() else { return }
        document.pointee.nextFree = documents
        documents = document
    }

    @inline(__always)
    mutating func takeEncoding() -> UnsafeMutablePointer<EncodingText> {
        guard let encoding = encodings else { return EncodingText.make() }
        encodings = encoding.pointee.nextFree
        return encoding
    }

    @inline(__always)
    mutating func giveBack(_ encoding: UnsafeMutablePointer<EncodingText>) {
        encoding.pointee.nextFree = encodings
        encodings = encoding
    }
}
