import Glibc

/// Events on the server's thread, for a test to wait for.
final class EventLog: @unchecked Sendable {
    // Unchecked: `events` is only touched under `mutex`.

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var events: [String] = []

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func add(_ event: String) {
        pthread_mutex_lock(mutex)
        events.append(event)
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    var all: [String] {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return events
    }

    /// Waits until `event` was added (`count` times).
    ///
    /// - Returns: false when ten seconds have passed without.
    func wait(for event: String, count: Int = 1) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_sec += 10
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while events.filter({ $0 == event }).count < count {
            if pthread_cond_timedwait(condition, mutex, &end) != 0 { return false }
        }
        return true
    }
}
