import Configuration
import Deployment
import EventLoop
import Files
import Glibc
import Logging
import Synchronization

/// Reloads the certificate and key when one of their files is replaced or changed. If they cannot be used, the former ones stay in use. Belongs
/// to the home loop.
///
/// Other changes in their folders, for example of a log file, only cause the two files to be checked.
final class CertificateWatcher {
    /// State of the two files at one moment.
    private struct State: Sendable, Equatable {
        var certificate: FileStamp?
        var key: FileStamp?
        var contents: [[UInt8]?] = []

        static func == (left: State, right: State) -> Bool { left.certificate == right.certificate && left.key == right.key }
    }

    private let settings: TLSSettings
    private let offersHTTP2: Bool
    private let shards: [LoopShard]
    private let loop: EventLoop
    private let log: Logger
    private var folders: FolderWatch?
    private var timer: Timer?
    /// The state when they were last loaded or found unchanged.
    private var used: State
    /// The state at the last check, if it differed.
    private var changed: State?
    private var isLooking = false
    /// The state whose last attempt failed for a reason that may pass; its next failure is not logged again.
    private var failed: State?

    /// How long a new state must last before it is loaded, because the two files change one after the other.
    private static let quietMilliseconds: UInt64 = 200
    private static let sizeBytesMax = 1 << 20
    /// The time after which files that could not be read are read again.
    private static let retryMilliseconds: UInt64 = 3000

    /// Create it before the files are used.
    init(_ settings: TLSSettings, offersHTTP2: Bool, shards: [LoopShard], loop: EventLoop, log: Logger) {
        self.settings = settings
        self.offersHTTP2 = offersHTTP2
        self.shards = shards
        self.loop = loop
        self.log = log
        used = Self.state([settings.certificate, settings.key])
        let timer = Timer(loop: loop) { [unowned self] in look() }
        self.timer = timer
        // An already running timer is not restarted: constant changes in a folder must not delay the check forever.
        folders = FolderWatch(loop: loop, log: log, isPassing: { _ in false }) {
            if !timer.isRunning { timer.start(afterMilliseconds: Self.quietMilliseconds) }
        }
        look()
    }

    /// Compares the files with those in use.
    private func look() {
        guard !isLooking else { return timer?.start(afterMilliseconds: Self.quietMilliseconds) ?? () }
        isLooking = true
        let paths = [settings.certificate, settings.key]
        loop.task { [weak self, loop, used] in
            let (state, folders) = await loop.offload { (Self.state(paths, unless: used), Self.folders(of: paths)) }
            await self?.didLook(state, folders)
        }
    }

    private func didLook(_ state: State, _ folders: [String: FileStamp]) async {
        isLooking = false
        // A new folder is watched from here on; another look sees changes before that.
        let isNew = self.folders?.watch(folders) ?? false
        if didSee(state) { await reload(state) }
        if isNew { timer?.start(afterMilliseconds: Self.quietMilliseconds) }
    }

    /// - Returns: whether the files have other contents, and have been the same for a while.
    private func didSee(_ state: State) -> Bool {
        guard state != used else {
            changed = nil
            return false
        }
        guard state == changed else {
            changed = state
            timer?.start(afterMilliseconds: Self.quietMilliseconds)
            return false
        }
        changed = nil
        defer { used = state }
        return state.contents != used.contents
    }

    private func reload(_ tried: State) async {
        do throws(TLSError) {
            let context = try await loop.offload { [settings, offersHTTP2] () throws(TLSError) in
                try TLSContext(certificateFile: settings.certificate, keyFile: settings.key, offersHTTP2: offersHTTP2)
            }
            for shard in shards { shard.use(context) }
            failed = nil
            log.notice("the certificate was reloaded")
        } catch {
            if failed != tried {
                log.error("the certificate could not be reloaded; the old one stays in use", metadata: ["reason": "\(error)"])
            }
            failed = nil
            // The machine may have been the cause, for example too few descriptors.
            guard error.kind == .unreadable || error.kind == .library else { return }
            used = State()
            failed = tried
            timer?.start(afterMilliseconds: Self.retryMilliseconds)
        }
    }

    // MARK: Checks on the thread pool

    private static func state(_ paths: [String], unless used: State? = nil) -> State {
        var state = State(certificate: FileStamp(paths[0]), key: FileStamp(paths[1]))
        if let used, used == state { return used }
        state.contents = paths.map { try? WholeFile.read($0, sizeBytesMax: sizeBytesMax) }
        return state
    }

    /// The folders where changes of the files are visible: their own ones, and those of link targets, because tools that renew certificates use
    /// links.
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
