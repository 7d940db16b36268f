import EventLoop
import Files
import FunctionWorker
import Glibc

/// Checks the size of the folders of plugins' workers once a second. Belongs to the dispatcher's loop.
///
/// The kernel limits the size of each file (`RLIMIT_FSIZE`). It could limit their sum only with quotas, which few file systems have.
final class FolderQuota {
    /// A folder and the workers whose working directory it is.
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
    ///   - subjects: returns the folders to check.
    ///   - exceeded: called with a folder that holds more than `bytesMax`.
    init(loop: EventLoop, bytesMax: Int, subjects: @escaping () -> [Subject], exceeded: @escaping (String) -> Void) {
        self.loop = loop
        self.bytesMax = bytesMax
        self.subjects = subjects
        self.exceeded = exceeded
        let timer = Timer(loop: loop) { [unowned self] in look() }
        timer.start(afterMilliseconds: Self.intervalMilliseconds, repeatMilliseconds: Self.intervalMilliseconds)
        self.timer = timer
    }

    /// Stops the checks.
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

/// Disk usage of a folder, including open files that were deleted. All functions block.
private struct FolderUse {
    private static let depthMax = 64
    /// The minimum that a file counts, because empty files use up the inode table.
    private static let fileBytesMin = 4096
    private let bytesMax: Int
    private var bytes = 0
    /// The inodes of deleted files that were counted.
    private var seen: Set<UInt64> = []

    /// - Parameter processes: all processes of the machine. Those of a worker are in its session.
    static func isOver(_ bytesMax: Int, _ subject: FolderQuota.Subject, among processes: [SessionMember]) -> Bool {
        var use = FolderUse(bytesMax: bytesMax)
        use.addFolder(Array(subject.folder.utf8CString), in: AT_FDCWD, depth: 0)
        for process in processes where subject.workers.contains(process.session) { use.addNameless(of: process.id, subject.folder) }
        return use.bytes > bytesMax
    }

    private init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Adds the files of a folder. The worker may change the tree at the same time, so links are not followed, and paths are relative to an
    /// open folder.
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

    /// Adds deleted files that a process still has open or mapped.
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

    /// Adds the mapped parts of deleted files of the folder. The kernel does not show the size of such files to others.
    private mutating func addMapped(of pid: Int32, _ folder: String) {
        guard let file = fopen("/proc/\(pid)/maps", "r") else { return }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while bytes <= bytesMax, getline(&line, &room, file) > 0, let line {
            // A line has the address range, permissions, offset, device, inode and path.
            guard strstr(line, " (deleted)") != nil, let path = strchr(line, CInt(UInt8(ascii: "/"))), strncmp(path, folder, folder.utf8.count) == 0
            else { continue }
            let words = String(cString: line).split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            let ends = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            guard words.count == 6, ends.count == 2, let number = UInt64(words[4]), seen.insert(number).inserted else { continue }
            bytes += ends[1] - ends[0]
        }
    }
}
