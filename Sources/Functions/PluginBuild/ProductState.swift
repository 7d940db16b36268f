import Files
import Glibc

/// The state of a product's files when its library was built.
struct ProductState: Sendable {
    let plan: ProductPlan
    /// The end of the last run of the compiler or package manager. The compiler compares time stamps in seconds, so it may miss a file that
    /// was written in the same second.
    private var end = FileStamp.now()
    private let description: String
    private var descriptionStamp: FileStamp?
    private let descriptionHash: Int?
    private var structure: String
    private var guards: [String: FileStamp?] = [:]
    private var sources: [String: FileStamp] = [:]
    private var products: [String: FileStamp?] = [:]
    private var programs: [String: FileStamp?] = [:]

    /// - Parameters:
    ///   - description: the path of the file with the plan.
    ///   - start: the start of the build that made the library: later changes may not be in it.
    init(_ plan: ProductPlan, description: String, start: timespec) {
        self.plan = plan
        self.description = description
        descriptionStamp = FileStamp(description)
        descriptionHash = Self.hash(description)
        structure = Self.structure(plan)
        for file in plan.guards {
            let stamp = FileStamp(file)
            // A stamp that no file has, so that the file counts as changed.
            guards[file] = stamp.map { $0.isSince(start) } == true ? FileStamp("/") : stamp
        }
        for file in plan.sources {
            guard let stamp = FileStamp(file), !stamp.isSince(start) else { continue }
            sources[file] = stamp
        }
        for file in plan.products { products[file] = FileStamp(file) }
        for program in Set(plan.steps.compactMap(\.arguments.first)) {
            for name in [program, "\(Folder.parent(of: program))/swift-frontend"] { programs[name] = FileStamp(name) }
        }
    }

    /// The changed sources; nil if other files have changed or one is missing: then only the package manager can build.
    mutating func changes() -> [String: FileStamp]? {
        guard isSameDescription(), Self.structure(plan) == structure,
            guards.allSatisfy({ FileStamp($0.key) == $0.value }), products.allSatisfy({ FileStamp($0.key) == $0.value }),
            programs.allSatisfy({ FileStamp($0.key) == $0.value })
        else { return nil }
        var changed: [String: FileStamp] = [:]
        for file in plan.sources {
            guard let stamp = FileStamp(file) else { return nil }
            if sources[file] != stamp { changed[file] = stamp }
        }
        return changed
    }

    /// Makes the next build, by any program, compile the changed files: see `end`.
    func forgetUnseen() {
        let unseen = plan.sources.filter { source in
            let stamp = FileStamp(source)
            return stamp != sources[source] && stamp?.isWritten(bySecondOf: end) == true
        }
        for step in plan.steps where !step.inputs.isDisjoint(with: unseen) { step.forgetPrevious() }
    }

    /// The package manager also writes the file for other products, with the same contents.
    private mutating func isSameDescription() -> Bool {
        let stamp = FileStamp(description)
        if let stamp, stamp == descriptionStamp { return true }
        guard stamp != nil, let hash = Self.hash(description), hash == descriptionHash else { return false }
        descriptionStamp = stamp
        return true
    }

    private static func hash(_ file: String) -> Int? { (try? WholeFile.read(file, sizeBytesMax: BuildDescription.sizeBytesMax))?.hashValue }

    /// Records that the steps for these sources have run.
    mutating func didBuild(_ changed: [String: FileStamp], _ steps: [ProductPlan.Step]) {
        sources.merge(changed) { $1 }
        didRun(steps)
    }

    /// Records that these steps have run, or were interrupted.
    mutating func didRun(_ steps: [ProductPlan.Step]) {
        didEnd()
        for output in steps.flatMap(\.outputs) where products[output] != nil { products[output] = FileStamp(output) }
    }

    /// Records that the compiler or package manager has finished, successfully or not.
    mutating func didEnd() { end = FileStamp.now() }

    private static func structure(_ plan: ProductPlan) -> String {
        let flat = plan.folders.map { folder in Folder.entries(folder).map { "\(folder)/\($0.name)\n" }.joined() }
        return plan.trees.map { Folder.structure($0) }.joined() + "\n" + flat.joined()
    }
}

/// The files and folders of a product, for watching them.
public struct ProductOrigins: Sendable, Equatable {
    /// Sources and package descriptions; some may not exist.
    public let files: Set<String>
    /// Folders in which, at any depth, a new file may belong to the product.
    public let trees: Set<String>

    /// - Parameter directory: the package's folder; its `.build` is ignored.
    init(_ plan: ProductPlan, directory: String) {
        let scratch = "\(directory)/.build/"
        files = Set(plan.sources).union(plan.guards).filter { !$0.hasPrefix(scratch) }
        // The folders of targets if the package manager names them; otherwise the folders of the sources.
        trees = Set(plan.folders.map { folder in plan.trees.first { folder == $0 || folder.hasPrefix("\($0)/") } ?? folder })
    }
}
