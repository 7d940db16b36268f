import Glibc

/// The executable for workers.
package enum WorkerProgram {
    /// The running program, even if another build has been installed in its place.
    ///
    /// - Parameter executable: the path of this program at its start.
    package static func path(executable: String) -> String {
        let own = "/proc/self/exe"
        var running = stat()
        var found = stat()
        guard access(own, X_OK) == 0, stat(own, &running) == 0 else { return executable }
        // Under valgrind or an emulator, `/proc/self/exe` is that program instead. The check is impossible once `executable` was removed.
        guard stat(executable, &found) == 0 else { return own }
        return running.st_ino == found.st_ino && running.st_dev == found.st_dev ? own : executable
    }
}
