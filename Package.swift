// swift-tools-version:6.2
import PackageDescription

/// Settings for every module: language mode 6 is the default of this tools version.
let house: [SwiftSetting] = [
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
    .unsafeFlags(["-enforce-exclusivity=unchecked", "-cross-module-optimization"], .when(configuration: .release)),
]

/// Programs and plugins have the Swift runtime linked in: the machine that they are deployed to needs no toolchain. Packed
/// relocations touch fewer pages at start, which each worker would have to itself.
let staticRuntimeFlags = ["-static-stdlib", "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]
let pluginLinking: [LinkerSetting] = [
    // The debug sections name the places of crashes. They are most of what a deployment uploads.
    .unsafeFlags(staticRuntimeFlags + ["-Xlinker", "--compress-debug-sections=zlib"], .when(configuration: .release))
]
let programLinking: [LinkerSetting] = [
    // Symbols of the program are not looked up at run time, so unused code can be removed.
    .unsafeFlags(staticRuntimeFlags + ["-Xlinker", "--no-export-dynamic", "-Xlinker", "--icf=safe"], .when(configuration: .release)),
    // The static FoundationEssentials, which the cryptography brings, does not name what it needs.
    .linkedLibrary("_FoundationCShims", .when(configuration: .release)),
    .linkedLibrary("_FoundationCollections", .when(configuration: .release)),
]

/// The templates of `hearth init`.
let projectTemplates = [
    "Package.swift", "Functions.swift", "plugin.c", "hearth.h", "build-swift", "build-c", "Tests.swift", "test-swift", "test-c", "run-c",
    "README-swift.md", "README-c.md", "functions.json", "database.rules.json", "hearth", "hearth.sh", "serve", "gitignore",
]

/// A module of the package in `SDK/`. The host compiles the sources of that package itself, with the settings of the host: its hot
/// paths go through them, and a package that others depend on may not have unsafe flags.
func sdkModule(_ name: String, _ dependencies: [Target.Dependency] = [], defines: [SwiftSetting] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "SDK/Sources/\(name)", exclude: ["README.md"], swiftSettings: house + defines)
}

/// A plugin in Swift: an example, or one that the tests need.
func plugin(_ name: String, in folder: String) -> Target {
    .target(
        name: name, dependencies: ["HearthFunctions"], path: "\(folder)/\(name)", swiftSettings: house, linkerSettings: pluginLinking,
        plugins: ["HearthEntryPoint"])
}

let bytes = Target.Dependency.target(name: "HearthBytes")
let json = Target.Dependency.target(name: "HearthJSON")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

/// The layers, each a folder of `Sources`. A module imports from its own layer and from earlier ones.
enum Layer: String {
    case base = "Base"
    case database = "Database"
    case identity = "Identity"
    case messaging = "Messaging"
    case functions = "Functions"
    case host = "Host"
    case command = "Command"
}

/// A module, in the folder of its layer.
func module(
    _ name: String, in layer: Layer, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], resources: [Resource]? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(layer.rawValue)/\(name)", exclude: ["README.md"] + exclude,
        resources: resources, swiftSettings: house)
}

let package = Package(
    name: "hearth",
    products: [
        .executable(name: "hearth", targets: ["hearth"]),
        .library(name: "Arithmetic", type: .dynamic, targets: ["Arithmetic"]),
        .library(name: "Messages", type: .dynamic, targets: ["Messages"]),
        .library(name: "Followers", type: .dynamic, targets: ["Followers"]),
        .library(name: "Counter", type: .dynamic, targets: ["Counter"]),
        .library(name: "Conformance", type: .dynamic, targets: ["Conformance"]),
        .library(name: "Faults", type: .dynamic, targets: ["Faults"]),
        .library(name: "Members", type: .dynamic, targets: ["Members"]),
        .library(name: "Timetable", type: .dynamic, targets: ["Timetable"]),
        .library(name: "Effects", type: .dynamic, targets: ["Effects"]),
        .library(name: "Queues", type: .dynamic, targets: ["Queues"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.1.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        // SDK: the modules of the package that plugin authors depend on, as SDK/Package.swift declares them.
        .systemLibrary(name: "CHearth", path: "SDK/Sources/CHearth"),
        sdkModule("HearthBytes"),
        sdkModule("HearthJSON", [bytes]),
        sdkModule("HearthFunctions", ["CHearth", bytes, json, logging], defines: [.define("SwiftLog")]),
        sdkModule("HearthTesting", ["CHearth", bytes, json, "HearthFunctions"]),
        .plugin(name: "HearthEntryPoint", capability: .buildTool(), path: "SDK/Plugins/HearthEntryPoint"),

        // Base: general mechanisms, and the C libraries below them.
        .systemLibrary(name: "CLibuv", path: "Sources/Base/CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "COpenSSL", path: "Sources/Base/COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", path: "Sources/Base/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CNGHTTP2", path: "Sources/Base/CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CSQLite", path: "Sources/Base/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CLLHTTP", path: "Sources/Base/CLLHTTP", cSettings: [.unsafeFlags(["-I/usr/share/include/llhttp", "-O2"])]),
        .target(name: "CLinux", path: "Sources/Base/CLinux"),
        .target(
            name: "CRE2", path: "Sources/Base/CRE2", cxxSettings: [.unsafeFlags(["-O2"])],
            linkerSettings: [.unsafeFlags(["-Xlinker", "-l:libre2.a", "-lstdc++"])]),
        .target(name: "CArgon2", path: "Sources/Base/CArgon2", linkerSettings: [.unsafeFlags(["-Xlinker", "-l:libargon2.a"])]),
        .target(name: "CCrypt", path: "Sources/Base/CCrypt", linkerSettings: [.unsafeFlags(["-Xlinker", "-l:libcrypt.a"])]),
        .target(name: "CCurl", path: "Sources/Base/CCurl", linkerSettings: [.linkedLibrary("dl")]),
        module("Files", in: .base),
        module("RegularExpressions", in: .base, ["CRE2"]),
        module("Metrics", in: .base, [bytes]),
        module("EventLoop", in: .base, [bytes, "CLibuv", "COpenSSL", "CLinux"]),
        module(
            "HTTP", in: .base, [bytes, "EventLoop", "CLLHTTP", "CNGHTTP2", "CZlib", "CCurl", crypto],
            exclude: ["Server/README.md", "Client/README.md", "HTTP2/README.md"]),
        module("SQLite", in: .base, ["CSQLite"]),
        module("Telemetry", in: .base, [bytes, json, "Metrics", "EventLoop", "HTTP", logging]),
        module("Store", in: .base, ["Files", "EventLoop", "SQLite", "CSQLite", logging]),
        module("Logs", in: .base, [bytes, "Files", "EventLoop", "HTTP", json, logging]),

        // Database: trees of values, their rules, and the Realtime Database over REST.
        module("Tree", in: .database, [bytes, json, crypto]),
        module("Rules", in: .database, [bytes, json, "Tree", "RegularExpressions", "CRE2"]),
        module(
            "RealtimeDatabase", in: .database,
            [bytes, "Files", "Metrics", json, "EventLoop", "HTTP", "Tree", "Rules", "SQLite", "Store", deque, logging]),
        module("DatabaseAPI", in: .database, [bytes, json, deque, "EventLoop", "HTTP", "Telemetry", "Tree", "Rules", "RealtimeDatabase"]),

        // Identity: users and apps.
        module("Tokens", in: .identity, [bytes, "Files", json, crypto, cryptoExtras, asn1]),
        module("Passwords", in: .identity, [bytes, json, "EventLoop", "CLinux", "COpenSSL", "CCrypt", "CArgon2"]),
        module("IdentityProviders", in: .identity, [bytes, json, "HTTP", "Tokens", crypto]),
        module("AccountNotices", in: .identity, [bytes, "Files", json, "EventLoop", "CCurl"]),
        module("Accounts", in: .identity, [bytes, json, "EventLoop", "SQLite", "Store", "RealtimeDatabase", crypto, logging]),
        module(
            "Authentication", in: .identity,
            [bytes, json, "EventLoop", "HTTP", "Tokens", "Passwords", "IdentityProviders", "AccountNotices", "Accounts", crypto]),

        module(
            "AppCheck", in: .identity,
            [bytes, json, "EventLoop", "HTTP", "SQLite", "Store", "Tokens", "COpenSSL", crypto, logging]),

        // Messaging: devices and messages.
        module(
            "Messaging", in: .messaging,
            [bytes, "Files", "Metrics", json, "EventLoop", "HTTP", "Tree", "SQLite", "Store", crypto, cryptoExtras, deque, logging]),

        // Functions: running people's code.
        module("Configuration", in: .functions, [bytes, "Files", "RegularExpressions"], resources: [.embedInCode("functions.schema.json")]),
        module("WorkerProtocol", in: .functions, [bytes]),
        module("FunctionWorker", in: .functions, [bytes, json, "EventLoop", "HTTP", "WorkerProtocol", "CHearth", "CLinux"]),
        module("PluginBuild", in: .functions, ["Files", json, "CLinux"]),

        module("AdminProtocol", in: .functions, [bytes, json]),
        module(
            "FunctionDispatch", in: .functions,
            [
                bytes, "PluginBuild", "Files", "Metrics", "EventLoop", "HTTP", "Telemetry", "Logs", json, "RealtimeDatabase", "Configuration",
                "WorkerProtocol", "FunctionWorker", "AdminProtocol", "CLinux", deque, logging,
            ]),
        module(
            "CallFrontEnd", in: .functions,
            [
                bytes, "EventLoop", "HTTP", "Telemetry", "Logs", json, "SQLite", "Tokens", "RealtimeDatabase", "DatabaseAPI", "Messaging",
                "Configuration", "WorkerProtocol", "FunctionWorker", "AdminProtocol", "FunctionDispatch", crypto, logging,
            ]),
        module(
            "EventDelivery", in: .functions,
            [
                bytes, "FunctionWorker", "EventLoop", "HTTP", "Logs", json, "Store", "Tree", "RealtimeDatabase", "Configuration",
                "WorkerProtocol", "AdminProtocol", "FunctionDispatch", deque, logging,
            ]),
        module(
            "Schedules", in: .functions,
            [
                bytes, "Files", "Metrics", "EventLoop", "Logs", "SQLite", "Store", "Tree", "RealtimeDatabase", "Configuration", "FunctionWorker",
                "FunctionDispatch", "EventDelivery", deque, logging,
            ]),
        module(
            "TaskQueues", in: .functions,
            [
                bytes, "Metrics", "EventLoop", "HTTP", "Logs", json, "SQLite", "Store", "Tree", "RealtimeDatabase", "Configuration",
                "AdminProtocol", "FunctionDispatch", "EventDelivery", deque, logging,
            ]),
        module(
            "FunctionServices", in: .functions,
            [
                bytes, "EventLoop", "Logs", json, "Tree", "RealtimeDatabase", "Accounts", "Authentication", "Messaging", "AdminProtocol",
                "FunctionDispatch", "TaskQueues", crypto,
            ]),
        module(
            "Deployment", in: .functions,
            [
                bytes, "Files", "EventLoop", "Logs", json, "Configuration", "FunctionWorker", "PluginBuild", "AdminProtocol",
                "FunctionDispatch", "EventDelivery", "Schedules", "CLinux", crypto, logging,
            ]),

        // Host: all of it in one process, and its administration.
        module(
            "HostCore", in: .host,
            [bytes, "Files", "EventLoop", "Logs", json, "SQLite", "Store", "FunctionWorker", "AdminProtocol", "Deployment", "CLinux", crypto]),
        module(
            "Administration", in: .host,
            [
                bytes, "EventLoop", "HTTP", "Logs", json, "Store", "Tree", "Rules", "RealtimeDatabase", "Configuration", "FunctionWorker",
                "AdminProtocol", "FunctionDispatch", "EventDelivery", "Schedules", "TaskQueues", "Deployment", "HostCore", logging,
            ]),
        module(
            "Host", in: .host,
            [
                bytes, "Files", "Metrics", "EventLoop", "HTTP", "Telemetry", "Logs", json, "Tokens", "Configuration", "FunctionWorker", "Rules",
                "RealtimeDatabase", "DatabaseAPI", "Passwords", "IdentityProviders", "AccountNotices", "Accounts", "Authentication", "AppCheck",
                "Messaging", "PluginBuild", "AdminProtocol", "FunctionDispatch", "CallFrontEnd", "EventDelivery", "Schedules", "TaskQueues",
                "FunctionServices", "Deployment", "HostCore", "Administration", "Store", "CLinux", "COpenSSL", crypto, cryptoExtras, logging,
            ]),

        // Command: the program that people type.
        module("CommandClient", in: .command, [bytes, json, "AdminProtocol", "COpenSSL", "CZlib"]),
        .executableTarget(
            name: "hearth",
            dependencies: [
                "Host", "HostCore", "Deployment", "FunctionWorker", "PluginBuild", "Configuration", "EventLoop", "HTTP", "AdminProtocol",
                "CommandClient",
                "WorkerProtocol", bytes, "Files", json, "CLinux", .product(name: "ArgumentParser", package: "swift-argument-parser"), logging,
            ],
            path: "Sources/Command/hearth", exclude: ["README.md"],
            resources: projectTemplates.map { .embedInCode("Init/Templates/\($0).template") }
                + ["bash", "zsh", "fish"].map { .embedInCode("Arguments/completions.\($0)") },
            swiftSettings: house, linkerSettings: programLinking),

        // Plugins: the examples, and those that the tests need.
        plugin("Arithmetic", in: "Plugins"),
        plugin("Messages", in: "Plugins"),
        plugin("Followers", in: "Plugins"),
        .target(name: "Counter", dependencies: ["CHearth"], path: "Plugins/Counter"),
        plugin("Conformance", in: "Tests/Plugins"),
        plugin("Faults", in: "Tests/Plugins"),
        plugin("Members", in: "Tests/Plugins"),
        plugin("Timetable", in: "Tests/Plugins"),
        plugin("Effects", in: "Tests/Plugins"),
        plugin("Queues", in: "Tests/Plugins"),

        // Programs that the tests run.
        .executableTarget(
            name: "WebSocketEcho", dependencies: [bytes, "EventLoop", "HTTP"], path: "Tests/Programs/WebSocketEcho", swiftSettings: house),

        // Programs that benchmarks run.
        .executableTarget(
            name: "TokenVerification", dependencies: [bytes, json, "Tokens", crypto, cryptoExtras], path: "Benchmarks/Programs/TokenVerification",
            swiftSettings: house),

        // Tests mirror the modules.
        .target(name: "FuzzSupport", path: "Tests/FuzzSupport", swiftSettings: house),
        .testTarget(name: "HearthBytesTests", dependencies: [bytes], swiftSettings: house),
        .testTarget(name: "FilesTests", dependencies: ["Files"], swiftSettings: house),
        .testTarget(name: "MetricsTests", dependencies: ["Metrics", bytes], swiftSettings: house),
        .testTarget(name: "TelemetryTests", dependencies: ["Telemetry", "Metrics", "HTTP", json], swiftSettings: house),
        .testTarget(name: "HearthJSONTests", dependencies: ["FuzzSupport", json, bytes], swiftSettings: house),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "CLinux", bytes], swiftSettings: house),
        .testTarget(name: "HTTPTests", dependencies: ["FuzzSupport", "HTTP", "EventLoop", bytes, "CNGHTTP2", "CZlib"], swiftSettings: house),
        .testTarget(
            name: "AppCheckTests", dependencies: ["AppCheck", "FuzzSupport", "EventLoop", json, bytes, logging], swiftSettings: house),
        .testTarget(
            name: "TokensTests",
            dependencies: [
                "FuzzSupport", "Tokens", bytes, json, crypto, cryptoExtras, asn1,
            ],
            swiftSettings: house),
        .testTarget(
            name: "AccountsTests", dependencies: ["Accounts", "RealtimeDatabase", "Tree", "SQLite", "Store", "EventLoop", json, logging],
            swiftSettings: house),
        .testTarget(
            name: "AuthenticationTests",
            dependencies: ["FuzzSupport", "Authentication", "IdentityProviders", "Accounts", "Tokens", json, bytes, crypto, cryptoExtras],
            swiftSettings: house),
        .testTarget(
            name: "PasswordsTests", dependencies: ["FuzzSupport", "Passwords", json, bytes], exclude: ["vectors.json", "make_vectors.py"],
            swiftSettings: house),
        .testTarget(
            name: "IdentityProvidersTests",
            dependencies: ["FuzzSupport", "IdentityProviders", "Tokens", "EventLoop", "HTTP", json, bytes, crypto, cryptoExtras],
            swiftSettings: house),
        .testTarget(name: "AccountNoticesTests", dependencies: ["AccountNotices", json, bytes], swiftSettings: house),
        .testTarget(name: "ConfigurationTests", dependencies: ["FuzzSupport", "Configuration", "Files"], swiftSettings: house),
        .testTarget(name: "TreeTests", dependencies: ["FuzzSupport", "Tree", json, bytes, crypto], swiftSettings: house),
        .testTarget(
            name: "RulesTests", dependencies: ["FuzzSupport", "Rules", "Tree", json, bytes], exclude: ["cases"], swiftSettings: house),
        .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "CSQLite"], swiftSettings: house),
        .testTarget(name: "StoreTests", dependencies: ["Store", "SQLite", "EventLoop", logging], swiftSettings: house),
        .testTarget(
            name: "RealtimeDatabaseTests",
            dependencies: [
                "FuzzSupport", "RealtimeDatabase", "Rules", "Tree", "SQLite", "CSQLite", "Store", "EventLoop", "HTTP", json, bytes,
                crypto, deque, logging,
            ],
            swiftSettings: house),
        .testTarget(
            name: "DatabaseAPITests", dependencies: ["FuzzSupport", "DatabaseAPI", "RealtimeDatabase", "Tree", "HTTP", json, bytes],
            swiftSettings: house),
        .testTarget(
            name: "MessagingTests",
            dependencies: [
                "FuzzSupport", "Messaging", "SQLite", "Store", "EventLoop", json, bytes, logging,
            ],
            swiftSettings: house),
        .testTarget(
            name: "CommandClientTests", dependencies: ["FuzzSupport", "CommandClient", "AdminProtocol", json, bytes], swiftSettings: house),
        .testTarget(name: "WorkerProtocolTests", dependencies: ["FuzzSupport", "WorkerProtocol", bytes], swiftSettings: house),
        .testTarget(name: "AdminProtocolTests", dependencies: ["AdminProtocol", json], swiftSettings: house),
        .testTarget(
            name: "FunctionWorkerTests", dependencies: ["FuzzSupport", "FunctionWorker", "WorkerProtocol", "EventLoop", "CLinux", json, bytes],
            swiftSettings: house),
        .testTarget(name: "PluginBuildTests", dependencies: ["PluginBuild"], swiftSettings: house),
        .testTarget(name: "LogsTests", dependencies: ["FuzzSupport", "Logs", json, bytes], swiftSettings: house),
        .testTarget(
            name: "FunctionDispatchTests",
            dependencies: ["FunctionDispatch", "FunctionWorker", "WorkerProtocol", "EventLoop", "Logs", bytes], swiftSettings: house),
        .testTarget(
            name: "CallFrontEndTests",
            dependencies: ["CallFrontEnd", "FunctionDispatch", "AdminProtocol", "EventLoop", json, bytes, logging], swiftSettings: house),
        .testTarget(
            name: "EventDeliveryTests",
            dependencies: [
                "EventDelivery", "FunctionDispatch", "Configuration", "RealtimeDatabase", "Store", "Tree", "EventLoop", "Logs", json, bytes, logging,
            ],
            swiftSettings: house),
        .testTarget(
            name: "SchedulesTests",
            dependencies: [
                "FuzzSupport", "Schedules", "EventDelivery", "FunctionDispatch", "Configuration", "RealtimeDatabase", "Store", "EventLoop", bytes,
                logging,
            ],
            swiftSettings: house),
        .testTarget(
            name: "TaskQueuesTests",
            dependencies: [
                "FuzzSupport", "TaskQueues", "AdminProtocol", "EventDelivery", "FunctionDispatch", "Configuration", "RealtimeDatabase", "Store",
                "SQLite", "Tree", "EventLoop", json, bytes, logging,
            ],
            swiftSettings: house),
        .testTarget(
            name: "FunctionServicesTests",
            dependencies: ["FunctionServices", "FunctionDispatch", "RealtimeDatabase", "EventLoop", "Tree", json], swiftSettings: house),
        .testTarget(
            name: "DeploymentTests", dependencies: ["Deployment", "AdminProtocol", "FunctionDispatch", "Configuration", "Files", json],
            swiftSettings: house),
        .testTarget(name: "HostTests", dependencies: ["Host"], swiftSettings: house),
        .testTarget(
            name: "HearthFunctionsTests", dependencies: ["CHearth", "FuzzSupport", "HearthFunctions", "HearthTesting", json, logging],
            swiftSettings: house),
    ]
)
