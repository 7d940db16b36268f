// swift-tools-version:6.2
import PackageDescription

/// The settings of every module: language mode 6 is the default of this tools version.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
    .unsafeFlags(["-enforce-exclusivity=unchecked", "-cross-module-optimization"], .when(configuration: .release)),
]

/// The package that plugin authors depend on. It needs nothing of the host, and its module names carry the product's name, so that they
/// meet no module of another package.
let package = Package(
    name: "hearth-sdk",
    products: [
        .library(name: "CHearth", targets: ["CHearth"]),
        .library(name: "HearthBytes", targets: ["HearthBytes"]),
        .library(name: "HearthJSON", targets: ["HearthJSON"]),
        .library(name: "HearthFunctions", targets: ["HearthFunctions"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0")
    ],
    targets: [
        .systemLibrary(name: "CHearth"),
        .target(name: "HearthBytes", exclude: ["README.md"], swiftSettings: settings),
        .target(name: "HearthJSON", dependencies: ["HearthBytes"], exclude: ["README.md"], swiftSettings: settings),
        .target(
            name: "HearthFunctions",
            dependencies: ["CHearth", "HearthJSON", "HearthBytes", .product(name: "Logging", package: "swift-log")],
            exclude: ["README.md"], swiftSettings: settings),
    ]
)
