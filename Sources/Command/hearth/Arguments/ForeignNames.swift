/// Commands of the Firebase tools, and words that people try, with what they are called here.
enum ForeignNames {
    private static let names: [String: String] = [
        "emulators:start": "the host is started with: hearth serve",
        "emulators:exec": "a command runs against a host of its own with: hearth exec -- COMMAND",
        "emulators:export": "data is saved with: hearth database:export FILE",
        "functions:deploy": "functions are deployed with: hearth deploy --only functions",
        "functions:logs": "the log is read with: hearth functions:log",
        "functions:config:get": "configuration is in .env files beside functions.json",
        "functions:config:set": "configuration is in .env files beside functions.json",
        "functions:config:unset": "configuration is in .env files beside functions.json",
        "functions:config:clone": "configuration is in .env files beside functions.json",
        "database:profile": "figures of the database are at /_/metrics",
        "database:instances:list": "databases are listed by the administration: /_/api/databases",
        "login": "commands show the host the token of its data directory, or the one of --token",
        "logout": "commands show the host the token of its data directory, or the one of --token",
        "use": "the project is named in functions.json, the host with --url or HEARTH_URL",
        "projects:list": "a host has one project, which functions.json names",
        "start": "the host is started with: hearth serve",
        "run": "the host is started with: hearth serve, a command against a host of its own with: hearth exec -- COMMAND",
        "dev": "the host is started with: hearth serve",
        "test": "a command runs against a host of its own with: hearth exec -- COMMAND",
        "new": "a project is made with: hearth init DIR",
        "create": "a project is made with: hearth init DIR",
        "version": "the version is shown with: hearth --version",
    ]
    private static let families: [(prefix: String, meaning: String)] = [
        ("functions:secrets:", "secrets are in .secret.local beside functions.json"),
        ("hosting:", "Hearth serves functions and data, no sites"), ("firestore:", "Hearth has the Realtime Database, not Firestore"),
        ("apps:", "Hearth has one project, without apps"), ("ext:", "Hearth has no extensions"), ("storage:", "Hearth keeps no files"),
        ("remoteconfig:", "Hearth has no remote configuration"), ("emulators:", "the host is started with: hearth serve"),
    ]

    /// What to do instead.
    static func meant(by name: String) -> String? {
        names[name] ?? families.first { name.hasPrefix($0.prefix) }?.meaning
    }
}
