/// The log of the function that runs: its lines reach the host with the name of the function and the id of the call.
///
///     logger.info("adding a message", metadata: ["uid": "\(user.uid)"])
public let logger = Logger(label: "function", factory: { _ in HostLogHandler() })

/// Lets loggers that other libraries make write to the host too.
enum LogHandling {
    /// Only in a plugin, which has a copy of the logging library to itself: a program sets up its own logging.
    static func installIfAllowed() {
        if Premises.isPlugin { install }
    }

    private static let install: Void = LoggingSystem.bootstrap { label in
        var handler = HostLogHandler()
        handler.metadata["logger"] = .string(label)
        return handler
    }
}
