// swift-tools-version:6.2
import PackageDescription

/// The settings of every module: language mode 6 is the default of this tools version. No unsafe flags, so that any package can depend on
/// this one by version.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
]

/// The package that plugin authors depend on. It needs nothing of the host. Its module names contain the product's name, so that they
/// differ from those of other packages.
let package = Package(
    name: "hearth-sdk",
    products: [
        .library(name: "CHearth", targets: ["CHearth"]),
        .library(name: "HearthFunctions", targets: ["HearthFunctions"]),
        .library(name: "HearthTesting", targets: ["HearthTesting"]),
        .plugin(name: "HearthEntryPoint", targets: ["HearthEntryPoint"]),
    ],
    traits: [
        .trait(name: "SwiftLog", description: "Loggers of swift-log write to the function's log. Adds a dependency on swift-log.")
    ],
    dependencies: [
        // Not resolved unless the trait is on.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0")
    ],
    targets: [
        .systemLibrary(name: "CHearth"),
        .target(name: "HearthBytes", exclude: ["README.md"], swiftSettings: settings),
        .target(name: "HearthJSON", dependencies: ["HearthBytes"], exclude: ["README.md"], swiftSettings: settings),
        .target(
            name: "HearthFunctions",
            dependencies: [
                "CHearth", "HearthJSON", "HearthBytes", .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
            ],
            exclude: ["README.md"], swiftSettings: settings),
        .target(
            name: "HearthTesting", dependencies: ["CHearth", "HearthBytes", "HearthFunctions", "HearthJSON"], exclude: ["README.md"],
            swiftSettings: settings),
        .plugin(name: "HearthEntryPoint", capability: .buildTool()),
    ]
)
