internal import CHearth
import Glibc

extension Functions {
    /// Ties these functions to the host that loaded the plugin. The result is that of `hearth_plugin_entry`.
    ///
    /// Returns nil, after a sentence for each reason on standard error, when a definition is not valid or the host's version of the
    /// boundary does not fit.
    public func attach(to host: UnsafeRawPointer) -> UnsafeRawPointer? {
        guard let host = Host(host) else {
            Self.complain(
                "The host's version of hearth.h does not fit this plugin, which was built for \(HEARTH_ABI_MAJOR).\(HEARTH_ABI_MINOR).")
            return nil
        }
        let problems = problems
        guard problems.isEmpty else {
            for problem in problems { Self.complain(problem) }
            return nil
        }
        Attachment(host, definitions.map(\.handler)).enter()
        LoopExecutors.installIfAllowed()
        LogHandling.installIfAllowed()
        return Self.table(manifest: manifest.serialized())
    }

    /// Ends the tie that `attach` made, so that a test can attach other functions to another host.
    package static func detach() { Attachment.leave() }

    /// The plugin's side of the boundary. It lives until the process ends, as the header asks.
    private static func table(manifest: [UInt8]) -> UnsafeRawPointer {
        let text = UnsafeMutableRawBufferPointer.allocate(byteCount: manifest.count, alignment: 1)
        text.copyBytes(from: manifest)
        let plugin = UnsafeMutablePointer<hearth_plugin>.allocate(capacity: 1)
        plugin.initialize(
            to: hearth_plugin(
                abi_major: UInt32(HEARTH_ABI_MAJOR),
                abi_minor: UInt32(HEARTH_ABI_MINOR),
                size: MemoryLayout<hearth_plugin>.size,
                manifest: hearth_bytes(UnsafeRawBufferPointer(text)),
                invoke: { call in if let call { Attachment.current?.invoke(call) } },
                cancel: { id in Attachment.current?.cancel(id) },
                drained: { id in Attachment.current?.drained(id) },
                shutdown: { Attachment.current?.shutdown() },
                context_formats: 1 << HEARTH_CONTEXT_RAW.rawValue, reserved: 0))
        return UnsafeRawPointer(plugin)
    }

    private static func complain(_ sentence: String) {
        let line = Array((sentence + "\n").utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
