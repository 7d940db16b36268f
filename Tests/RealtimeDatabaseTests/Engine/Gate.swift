import Glibc

/// Holds up a thread until it is opened.
// Unchecked: a semaphore is made for several threads, and its memory stays where it is.
final class Gate: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() { sem_post(semaphore) }

    func pass() { while sem_wait(semaphore) != 0 {} }
}
