import CLinux
import Glibc

/// What a worker can reach once its plugin is loaded: programs and settings of the system to read, its own folder and
/// `/tmp` to write. Not the host's data, nor other plugins' secrets, nor anybody's home.
enum WorkerSandbox {
    private static let readable = ["/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/opt", "/proc", "/sys"]
    private static let writable = ["/tmp", "/dev"]

    /// Closes the sandbox around this process; there is no way back.
    ///
    /// - Parameters:
    ///   - artifact: the library, which the plugin may want to read again.
    ///   - directory: the worker's own folder.
    /// - Returns: what the kernel could not do, in words for the log; empty when everything holds.
    static func enter(artifact: String, directory: String) -> [String] {
        var missing: [String] = []
        let files = withCStrings(readable + [artifact]) { readable in
            withCStrings(writable + [directory]) { writable in linux_restrict_files(readable, writable) }
        }
        if files == -ENOSYS {
            missing.append("the kernel has no Landlock, so that files are not restricted")
        } else if files != 0 {
            missing.append("files are not restricted: \(String(cString: strerror(-files)))")
        }
        let calls = linux_deny_system_calls()
        if calls != 0 { missing.append("system calls are not restricted: \(String(cString: strerror(-calls)))") }
        return missing
    }

    /// Lets this process read below `readable`, and nothing else.
    ///
    /// - Returns: whether the kernel could do all of it.
    static func enterReadOnly(readable: [String]) -> Bool {
        withCStrings(readable) { readable in withCStrings(["/dev/null"]) { linux_restrict_files(readable, $0) } } == 0
            && linux_deny_system_calls() == 0
    }

    private static func withCStrings<R>(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R) -> R {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { UnsafePointer<CChar>($0) } + [nil]
        return pointers.withUnsafeBufferPointer { list in
            guard let base = list.baseAddress else { preconditionFailure("a list with its end in it is not empty") }
            return body(base)
        }
    }
}
