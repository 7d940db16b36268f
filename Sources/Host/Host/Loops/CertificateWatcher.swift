import Configuration
import Deployment
import EventLoop
import Files
import Glibc
import Logging
import Synchronization

/// Reads certificate and key again when one of them has become another file or has other contents. A pair that cannot be used changes
/// nothing. Belongs to the home loop.
///
/// Whatever else changes in their folders, a log file for example, only makes it look at the two.
final class CertificateWatcher {
    /// State of the two files at one moment.
    private struct State: Sendable, Equatable {
        var certificate: FileStamp?
        var key: FileStamp?
        var contents: [[UInt8]?] = []

        static func == (left: State, right: State) -> Bool { left.certificate == right.certificate && left.key == right.key }
    }

    private let settings: TLSSettings
    private let shards: [LoopShard]
    private let loop: EventLoop
    private let log: Logger
    private var folders: FolderWatch?
    private var timer: Timer?
    /// As they were when they were last taken, or found to be the same.
    private var used: State
    /// As they were at the last look, when that was something else.
    private var changed: State?
    private var isLooking = false

    /// Both files change one after the other: they must be the same for so long.
    private static let quietMilliseconds: UInt64 = 200
    private static let sizeBytesMax = 1 << 20

    /// To be made before the files are used.
    init(_ settings: TLSSettings, shards: [LoopShard], loop: EventLoop, log: Logger) {
        self.settings = settings
        self.shards = shards
        self.loop = loop
        self.log = log
        used = Self.state([settings.certificate, settings.key])
        let timer = Timer(loop: loop) { [unowned self] in look() }
        self.timer = timer
        // A folder that changes all the time must not postpone the look forever.
        folders = FolderWatch(loop: loop, log: log, isPassing: { _ in false }) {
            if !timer.isRunning { timer.start(afterMilliseconds: Self.quietMilliseconds) }
        }
        look()
    }

    /// Compares the files with what is used.
    private func look() {
        guard !isLooking else { return timer?.start(afterMilliseconds: Self.quietMilliseconds) ?? () }
        isLooking = true
        let paths = [settings.certificate, settings.key]
        loop.offload { [used] in (Self.state(paths, unless: used), Self.folders(of: paths)) } then: { [weak self] state, folders in
            guard let self else { return }
            isLooking = false
            // A folder that was replaced, or that a link leads to now, is watched from here on; what happened before is seen by another look.
            let isNew = self.folders?.watch(folders) ?? false
            didSee(state)
            if isNew { timer?.start(afterMilliseconds: Self.quietMilliseconds) }
        }
    }

    private func didSee(_ state: State) {
        guard state != used else { return changed = nil }
        guard state == changed else {
            changed = state
            return timer?.start(afterMilliseconds: Self.quietMilliseconds) ?? ()
        }
        changed = nil
        let isOther = state.contents != used.contents
        used = state
        if isOther { reload() }
    }

    private func reload() {
        loop.offload { [settings] () -> Result<TLSContext, TLSError> in
            do throws(TLSError) {
                return .success(try TLSContext(certificateFile: settings.certificate, keyFile: settings.key))
            } catch {
                return .failure(error)
            }
        } then: { [shards, log] in
            switch $0 {
            case .success(let context):
                for shard in shards { shard.use(context) }
                log.notice("the certificate was reloaded")
            case .failure(let error):
                log.error("the certificate could not be reloaded; the old one stays in use", metadata: ["reason": "\(error)"])
            }
        }
    }

    // MARK: Looking, on the thread pool

    private static func state(_ paths: [String], unless used: State? = nil) -> State {
        var state = State(certificate: FileStamp(paths[0]), key: FileStamp(paths[1]))
        if let used, used == state { return used }
        state.contents = paths.map { try? WholeFile.read($0, sizeBytesMax: sizeBytesMax) }
        return state
    }

    /// The folders in which a change of the files would be seen: their own, and those that links lead to, as the tools that renew
    /// certificates set them.
    private static func folders(of paths: [String]) -> [String: FileStamp] {
        var folders: [String: FileStamp] = [:]
        for path in paths {
            var place = path
            for _ in 0..<32 {
                let folder = Folder.parent(of: place)
                if let stamp = FileStamp(folder), stamp.isFolder { folders[folder] = stamp }
                guard let target = target(ofLink: place) else { break }
                place = target.hasPrefix("/") ? target : "\(folder)/\(target)"
            }
            guard let resolved = realpath(path, nil) else { continue }
            defer { free(resolved) }
            let folder = Folder.parent(of: String(cString: resolved))
            if let stamp = FileStamp(folder), stamp.isFolder { folders[folder] = stamp }
        }
        return folders
    }

    private static func target(ofLink path: String) -> String? {
        var room = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = room.withUnsafeMutableBytes { room in
            room.withMemoryRebound(to: CChar.self) { room in room.baseAddress.map { readlink(path, $0, room.count) } ?? 0 }
        }
        return count > 0 ? String(decoding: room.prefix(count), as: UTF8.self) : nil
    }
}
