import Glibc

/// The file that workers are started from.
package enum WorkerProgram {
    /// What runs now, also when another build has been installed in its place since.
    ///
    /// - Parameter executable: where this program was found when it started.
    package static func path(executable: String) -> String {
        let own = "/proc/self/exe"
        var running = stat()
        var found = stat()
        guard access(own, X_OK) == 0, stat(own, &running) == 0 else { return executable }
        // Under valgrind or an emulator it is theirs. What is no longer where it was cannot be found there.
        guard stat(executable, &found) == 0 else { return own }
        return running.st_ino == found.st_ino && running.st_dev == found.st_dev ? own : executable
    }
}
