import Configuration
import EventLoop
import Files
import Logging

/// Reads certificate and key again when their files change. A pair that cannot be used changes nothing.
final class CertificateWatcher {
    private let shards: [LoopShard]
    private let log: Logger
    private var watchers: [FileWatcher] = []
    private var timer: Timer?

    /// Watches the folders of both files, because files are replaced rather than written to.
    init(_ settings: TLSSettings, shards: [LoopShard], loop: EventLoop, log: Logger) {
        self.shards = shards
        self.log = log
        // Both files change one after the other: wait until it is quiet.
        timer = Timer(loop: loop) { [unowned self] in reload() }
        for folder in Set([settings.certificate, settings.key].map(Folder.parent)) {
            do throws(LoopError) {
                watchers.append(
                    try FileWatcher(loop: loop, path: folder) { [unowned self] _ in timer?.start(afterMilliseconds: 200) })
            } catch {
                log.warning("the certificate is not watched for changes", metadata: ["reason": "\(error)"])
            }
        }
    }

    private func reload() {
        for shard in shards {
            shard.reloadCertificate { [log] error in
                if let error {
                    log.error("the certificate could not be reloaded; the old one stays in use", metadata: ["reason": "\(error)"])
                } else {
                    log.notice("the certificate was reloaded")
                }
            }
        }
    }
}
