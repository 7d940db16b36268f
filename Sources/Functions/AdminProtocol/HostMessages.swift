package import HearthJSON

/// The answer to `GET /_/api`.
package struct HostDescription: AdminMessage {
    package enum Mode: String, Codable, Sendable { case development, production }

    package var project: String
    package var mode: Mode
    /// The name of the rules file, if `functions.json` names one.
    package var rulesFile: String?

    package init(project: String, mode: Mode, rulesFile: String?) {
        self.project = project
        self.mode = mode
        self.rulesFile = rulesFile
    }
}

/// `POST host:upgrade`.
package struct UpgradeOrder: AdminMessage {
    /// The time limit for the new host to get ready.
    package var timeoutSeconds = 60

    package static let timeoutSecondsRange = 1...3600

    package init(timeoutSeconds: Int) { self.timeoutSeconds = timeoutSeconds }

    /// Reads and checks a request.
    package init(parsing body: JSONValue) throws(AdminError) {
        guard let seconds = body["timeoutSeconds"] else { return }
        guard let number = seconds.int, Self.timeoutSecondsRange.contains(number) else {
            throw .invalid("timeoutSeconds must be a number from 1 to 3600")
        }
        timeoutSeconds = number
    }
}

/// The answer to `POST host:upgrade`.
package struct UpgradeReport: AdminMessage {
    /// The process that serves now.
    package var pid: Int32
    /// From the beginning until the new host serves.
    package var milliseconds: Int
    /// The longest wait of a request.
    package var heldMilliseconds: Int
    /// The time in which no process had the databases open.
    package var gapMilliseconds: Int

    package init(pid: Int32, milliseconds: Int, heldMilliseconds: Int, gapMilliseconds: Int) {
        self.pid = pid
        self.milliseconds = milliseconds
        self.heldMilliseconds = heldMilliseconds
        self.gapMilliseconds = gapMilliseconds
    }
}

// MARK: Restores

/// The answer to `POST restores`.
package struct RestoreStart: AdminMessage {
    /// The id of the restore.
    package var restore: String

    package init(restore: String) { self.restore = restore }
}

/// The answer to `PUT restores/ID`.
package struct RestoreProgress: AdminMessage {
    package var receivedBytes: Int

    package init(receivedBytes: Int) { self.receivedBytes = receivedBytes }
}

/// The answer to `POST restores/ID:apply`.
package struct RestoreReport: AdminMessage {
    /// The number of restored files.
    package var members: Int
    /// The folder of the previous data.
    package var kept: String
    /// The process that serves now.
    package var pid: Int32

    package init(members: Int, kept: String, pid: Int32) {
        self.members = members
        self.kept = kept
        self.pid = pid
    }
}

// MARK: Builds

/// The last build of a plugin.
package struct BuildEntry: AdminMessage {
    package enum State: String, Codable, Sendable { case building, built, failed }

    package var plugin: String
    package var state: State
    /// The start, RFC 3339.
    package var time: String
    package var buildMilliseconds: Double?
    /// The time from the library to serving the new versions.
    package var switchMilliseconds: Double?
    /// Whether the package manager was skipped.
    package var direct: Bool?
    /// The functions that changed.
    package var functions: [String] = []
    /// The reason of a failure.
    package var message: String?
    /// The output of the compiler, verbatim.
    package var diagnostics: String?

    package init(plugin: String, state: State, time: String) {
        self.plugin = plugin
        self.state = state
        self.time = time
    }
}

/// The answer to `GET builds`.
package struct BuildList: AdminMessage {
    package var watching: Bool
    /// `debug` or `release`; nil if nothing is built.
    package var configuration: String?
    package var builds: [BuildEntry]

    package init(watching: Bool, configuration: String?, builds: [BuildEntry]) {
        self.watching = watching
        self.configuration = configuration
        self.builds = builds
    }
}
