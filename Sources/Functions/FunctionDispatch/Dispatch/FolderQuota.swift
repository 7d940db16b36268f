import EventLoop
import Files
import FunctionWorker
import Glibc

/// Looks once a second at what plugins' workers keep in their folders. Belongs to the dispatcher's loop.
///
/// The kernel bounds each file (`RLIMIT_FSIZE`); only quotas that few file systems have would bound all of them together.
final class FolderQuota {
    /// A folder with the workers that stand in it.
    struct Subject: Sendable {
        var folder: String
        var workers: [Int32]
    }

    private static let intervalMilliseconds: UInt64 = 1000
    private let loop: EventLoop
    private let bytesMax: Int
    private let subjects: () -> [Subject]
    private let exceeded: (String) -> Void
    private var timer: Timer?
    private var isLooking = false

    /// - Parameters:
    ///   - subjects: what to look at.
    ///   - exceeded: gets the folder of one that holds more than `bytesMax`.
    init(loop: EventLoop, bytesMax: Int, subjects: @escaping () -> [Subject], exceeded: @escaping (String) -> Void) {
        self.loop = loop
        self.bytesMax = bytesMax
        self.subjects = subjects
        self.exceeded = exceeded
        let timer = Timer(loop: loop) { [unowned self] in look() }
        timer.start(afterMilliseconds: Self.intervalMilliseconds, repeatMilliseconds: Self.intervalMilliseconds)
        self.timer = timer
    }

    /// Looks no more.
    func stop() { timer = nil }

    private func look() {
        let subjects = self.subjects()
        guard !isLooking, !subjects.isEmpty else { return }
        isLooking = true
        let bytesMax = bytesMax
        loop.offload {
            let processes = SessionMember.all
            return subjects.filter { FolderUse.isOver(bytesMax, $0, among: processes) }.map(\.folder)
        } then: { [weak self] folders in
            guard let self else { return }
            isLooking = false
            guard timer != nil else { return }
            for folder in folders { exceeded(folder) }
        }
    }
}

/// Disk use of a folder, with open files that have no name any more. Everything blocks.
private struct FolderUse {
    private static let depthMax = 64
    /// The least that a file counts: empty files fill the inode table.
    private static let fileBytesMin = 4096
    private let bytesMax: Int
    private var bytes = 0
    /// Numbers of files without a name that were counted.
    private var seen: Set<UInt64> = []

    /// - Parameter processes: all that there are: workers, and what they have started, have their own sessions.
    static func isOver(_ bytesMax: Int, _ subject: FolderQuota.Subject, among processes: [SessionMember]) -> Bool {
        var use = FolderUse(bytesMax: bytesMax)
        use.addFolder(Array(subject.folder.utf8CString), in: AT_FDCWD, depth: 0)
        for process in processes where subject.workers.contains(process.session) { use.addNameless(of: process.id, subject.folder) }
        return use.bytes > bytesMax
    }

    private init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// The worker may change what it is while it is looked at: links are not followed, and every step begins at an open folder.
    private mutating func addFolder(_ name: [CChar], in parent: Int32, depth: Int) {
        // A deeper tree counts as too large.
        guard depth < Self.depthMax else { return bytes = bytesMax + 1 }
        let descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for name in Folder.rawNames(in: descriptor, limit: bytesMax / Self.fileBytesMin + 1) where bytes <= bytesMax {
            var status = stat()
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            bytes += max(Int(status.st_blocks) * 512, Self.fileBytesMin)
            if status.st_mode & S_IFMT == S_IFDIR { addFolder(name, in: descriptor, depth: depth + 1) }
        }
    }

    /// Adds files that a process has open, or maps, and that have no name any more.
    private mutating func addNameless(of pid: Int32, _ folder: String) {
        addMapped(of: pid, folder)
        let descriptor = open("/proc/\(pid)/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for name in Folder.rawNames(in: descriptor) where bytes <= bytesMax {
            var status = stat()
            guard fstatat(descriptor, name, &status, 0) == 0, status.st_nlink == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            if seen.insert(UInt64(status.st_ino)).inserted { bytes += Int(status.st_blocks) * 512 }
        }
    }

    /// Adds what is mapped of files that were in the folder: as much as is mapped, since the kernel tells others no more of it.
    private mutating func addMapped(of pid: Int32, _ folder: String) {
        guard let file = fopen("/proc/\(pid)/maps", "r") else { return }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while bytes <= bytesMax, getline(&line, &room, file) > 0, let line {
            // Range, rights, offset, device, number of the file, path.
            guard strstr(line, " (deleted)") != nil, let path = strchr(line, CInt(UInt8(ascii: "/"))), strncmp(path, folder, folder.utf8.count) == 0
            else { continue }
            let words = String(cString: line).split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            let ends = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            guard words.count == 6, ends.count == 2, let number = UInt64(words[4]), seen.insert(number).inserted else { continue }
            bytes += ends[1] - ends[0]
        }
    }
}
