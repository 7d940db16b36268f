import Glibc

/// Runs `work`, which blocks, on a separate thread.
func spawn(_ work: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Box(work)).toOpaque()
    var thread = pthread_t()
    pthread_create(
        &thread, nil,
        { context in
            guard let context else { return nil }
            Unmanaged<Box<@Sendable () -> Void>>.fromOpaque(context).takeRetainedValue().value()
            return nil
        }, context)
    pthread_detach(thread)
}
