import Files
import Glibc

/// The files of a product as they were when its library was made.
struct ProductState: Sendable {
    let plan: ProductPlan
    /// When the compiler or the package manager was last through. The compiler compares the times of files by the second: what was
    /// written in this one it may take for what it has seen.
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
    ///   - description: the path of the file that the plan is from.
    ///   - start: when the build began that made the library: what has changed since may not be in it.
    init(_ plan: ProductPlan, description: String, start: timespec) {
        self.plan = plan
        self.description = description
        descriptionStamp = FileStamp(description)
        descriptionHash = Self.hash(description)
        structure = Self.structure(plan)
        for file in plan.guards {
            let stamp = FileStamp(file)
            // Nothing has this stamp, so that the file counts as changed.
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

    /// The sources that have changed since; nil when anything else has, or one is gone: then only the package manager knows what to do.
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

    /// Makes the next build compile what has changed, whoever runs it: see `end`.
    func forgetUnseen() {
        let unseen = plan.sources.filter { source in
            let stamp = FileStamp(source)
            return stamp != sources[source] && stamp?.isWritten(bySecondOf: end) == true
        }
        for step in plan.steps where !step.inputs.isDisjoint(with: unseen) { step.forgetPrevious() }
    }

    /// The package manager writes it again for other products, with the same in it.
    private mutating func isSameDescription() -> Bool {
        let stamp = FileStamp(description)
        if let stamp, stamp == descriptionStamp { return true }
        guard stamp != nil, let hash = Self.hash(description), hash == descriptionHash else { return false }
        descriptionStamp = stamp
        return true
    }

    private static func hash(_ file: String) -> Int? { (try? WholeFile.read(file, sizeBytesMax: BuildDescription.sizeBytesMax))?.hashValue }

    /// The steps for these sources have run.
    mutating func didBuild(_ changed: [String: FileStamp], _ steps: [ProductPlan.Step]) {
        sources.merge(changed) { $1 }
        didRun(steps)
    }

    /// These steps have run, or were stopped while they did.
    mutating func didRun(_ steps: [ProductPlan.Step]) {
        didEnd()
        for output in steps.flatMap(\.outputs) where products[output] != nil { products[output] = FileStamp(output) }
    }

    /// The compiler or the package manager is through, whatever came of it.
    mutating func didEnd() { end = FileStamp.now() }

    private static func structure(_ plan: ProductPlan) -> String {
        let flat = plan.folders.map { folder in Folder.entries(folder).map { "\(folder)/\($0.name)\n" }.joined() }
        return plan.trees.map { Folder.structure($0) }.joined() + "\n" + flat.joined()
    }
}

/// What a product is made from, for those who watch it.
public struct ProductOrigins: Sendable, Equatable {
    /// Sources and package descriptions; some need not exist.
    public let files: Set<String>
    /// Folders in which, at any depth, a new file may belong to the product.
    public let trees: Set<String>

    /// - Parameter directory: the package's folder, whose `.build` nobody edits.
    init(_ plan: ProductPlan, directory: String) {
        let scratch = "\(directory)/.build/"
        files = Set(plan.sources).union(plan.guards).filter { !$0.hasPrefix(scratch) }
        // The folder of a target, where the package manager names it; else the folders that sources are in.
        trees = Set(plan.folders.map { folder in plan.trees.first { folder == $0 || folder.hasPrefix("\($0)/") } ?? folder })
    }
}
