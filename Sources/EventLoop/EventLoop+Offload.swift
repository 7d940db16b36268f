import CLibuv

extension EventLoop {
    /// Runs `work` on libuv's thread pool, for what would block the loop: files, password hashes, DNS.
    ///
    /// Called from anywhere; the caller goes on where it was once `work` has returned or thrown.
    public func offload<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        let result: Result<T, any Error> = await withCheckedContinuation { continuation in
            let box = OffloadedWork { continuation.resume(returning: Result { try work() }) }
            post { box.start(on: self) }
        }
        return try result.get()
    }
}

/// Carries a closure through libuv's work request.
final class OffloadedWork: Sendable {
    let body: @Sendable () -> Void

    init(body: @escaping @Sendable () -> Void) { self.body = body }

    func start(on loop: EventLoop) {
        let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
        request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        // The first one starts the pool's threads.
        let before = ThreadSignals.block()
        defer { ThreadSignals.restore(before) }
        let code = uv_queue_work(
            loop.handle, request,
            { request in
                guard let data = request?.pointee.data else { return }
                Unmanaged<OffloadedWork>.fromOpaque(data).takeUnretainedValue().body()
            },
            { request, _ in
                guard let request, let data = request.pointee.data else { return }
                Unmanaged<OffloadedWork>.fromOpaque(data).release()
                request.deallocate()
            })
        precondition(code == 0, "libuv refuses work only when it is given none")
    }
}
