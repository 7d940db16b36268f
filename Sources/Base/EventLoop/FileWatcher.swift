import CLibuv

/// Reports changes to a file, or to what a directory holds. Ends with its owner.
public final class FileWatcher {
    private let handle: UnsafeMutablePointer<uv_fs_event_t>
    private let changed: (String?) -> Void

    /// Watches `path`; `changed` gets the changed entry's name where the kernel tells it.
    ///
    /// A file that is replaced by another (as editors save) is only seen through its directory: watch that.
    /// - Throws: `LoopError` when the path does not exist or no watch is left.
    public init(loop: EventLoop, path: String, _ changed: @escaping (String?) -> Void) throws(LoopError) {
        self.changed = changed
        handle = .allocate(capacity: 1)
        uv_fs_event_init(loop.handle, handle)
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        let code = uv_fs_event_start(
            handle,
            { handle, name, _, _ in
                guard let data = handle?.pointee.data else { return }
                let watcher = Unmanaged<FileWatcher>.fromOpaque(data).takeUnretainedValue()
                watcher.changed(name.map { String(cString: $0) })
            }, path, 0)
        try check(code, "watch", path)
    }

    deinit { closeAndFree(handle) }
}
