import AdminProtocol
import CommandClient
import HearthJSON
import PluginBuild

/// The output of `hearth deploy`: lines for people while it runs, one object for programs at the end.
final class DeployReport {
    /// The durations of the parts.
    struct Seconds {
        var build = 0.0
        var upload = 0.0
        var switching = 0.0
    }

    private let isForProgram: Bool

    init(isForProgram: Bool) { self.isForProgram = isForProgram }

    private func say(_ line: String) { if !isForProgram { Terminal.write(line) } }

    // MARK: Progress

    func beginBuild(_ products: [String]) {
        // A log should show long steps too.
        if !Terminal.showsProgress { say("Building \(products.joined(separator: ", "))") }
    }

    func building(_ progress: BuildProgress) {
        guard Terminal.showsProgress else { return }
        let steps = progress.steps > 0 ? "  [\(progress.step)/\(progress.steps)]" : ""
        let line = "Building \(progress.product)\(steps)  \(progress.text)"
        Terminal.showProgress(String(line.prefix(Terminal.columns - 1)))
    }

    func didBuild(_ products: [String], _ seconds: Double) {
        say("Built \(products.joined(separator: ", ")) in \(Stopwatch.text(seconds))")
    }

    func didUpload(_ file: ArtifactFile, sentBytes: Int, _ seconds: Double) {
        let part = sentBytes < file.sizeBytes ? "the missing \(ByteCount.text(sentBytes)) of " : ""
        say("Uploaded \(part)\(file.name) (\(ByteCount.text(file.sizeBytes))) in \(Stopwatch.text(seconds))")
    }

    func show(_ plan: DeploymentSummary, client: HostClient, isAgain: Bool) {
        if isAgain { say("Another deployment came first; planned again.") }
        say((["", "Plan for \(client.url):"] + PlanTable.lines(plan) + [""]).joined(separator: "\n"))
    }

    func switching() {
        if Terminal.showsProgress { Terminal.showProgress("Switching") }
    }

    // MARK: At the end

    func nothingToDo(_ plan: DeploymentSummary, _ seconds: Seconds) -> Outcome {
        let kept = plan.changes(.keep).map(\.function)
        let count = plan.changes(.unchanged).count
        let text =
            kept.isEmpty
            ? "Nothing to deploy: \(count == 1 ? "the function is" : "all \(count) functions are") unchanged."
            : "Nothing to deploy: \(kept.joined(separator: ", ")) kept, everything else is unchanged."
        return Outcome(text: text, json: json(plan, [], seconds, isDryRun: false))
    }

    func dryRun(_ plan: DeploymentSummary, _ seconds: Seconds) -> Outcome {
        Outcome(text: "A dry run: nothing was changed.", json: json(plan, [], seconds, isDryRun: true))
    }

    func deployed(_ plan: DeploymentSummary, _ functions: [HostFunction], _ seconds: Seconds) -> Outcome {
        let changed = plan.changes(.create, .update)
        let rows = changed.map { change in
            let function = functions.first { $0.name == change.function }
            let version = change.toVersion ?? function?.traffic.first?.version
            return [change.function, version.map(String.init) ?? "-", function?.url ?? function?.trigger ?? "-"]
        }
        var lines = ["Deployed: \(PlanTable.summary(plan))."]
        if !rows.isEmpty { lines += TextTable.lines([["Function", "Version", "URL"]] + rows, indent: "  ") }
        lines.append("build \(Stopwatch.text(seconds.build)), upload \(Stopwatch.text(seconds.upload)), switch \(Stopwatch.text(seconds.switching))")
        return Outcome(text: lines.joined(separator: "\n"), json: json(plan, functions, seconds, isDryRun: false))
    }

    private func json(_ plan: DeploymentSummary, _ functions: [HostFunction], _ seconds: Seconds, isDryRun: Bool) -> JSONValue {
        var object = JSONObject([("dryRun", .bool(isDryRun)), ("revision", .int(Int64(plan.revision)))])
        if let number = plan.deployment { object["deployment"] = .int(Int64(number)) }
        object["changes"] = .array(
            plan.changes.map { change in
                guard case .object(var json) = change.json else { return change.json }
                if let url = functions.first(where: { $0.name == change.function })?.url { json["url"] = .string(url) }
                return .object(json)
            })
        let parts = [("build", seconds.build), ("upload", seconds.upload), ("switch", seconds.switching)]
        object["seconds"] = .object(JSONObject(parts.map { ($0.0, .double(($0.1 * 1000).rounded() / 1000)) }))
        return .object(object)
    }
}

/// Formats a plan for people.
enum PlanTable {
    /// A heading, and a line for each function.
    static func lines(_ plan: DeploymentSummary) -> [String] {
        let rows = plan.changes.map { change in
            [change.function, change.plugin, change.action.rawValue, versions(change), change.reason]
        }
        return TextTable.lines([["Function", "Plugin", "Change", "Version", "Why"]] + rows, indent: "  ") { word, column in
            column == 2 ? painted(word) : word
        }
    }

    /// The count of each action: `1 created, 2 updated, 17 unchanged`.
    static func summary(_ plan: DeploymentSummary) -> String {
        let words: [(FunctionChange.Action, String)] = [
            (.create, "created"), (.update, "updated"), (.delete, "deleted"), (.keep, "kept"), (.unchanged, "unchanged"),
        ]
        return words.compactMap { action, word in
            let count = plan.changes(action).count
            return count == 0 ? nil : "\(count) \(word)"
        }.joined(separator: ", ")
    }

    private static func painted(_ word: String) -> String {
        guard Terminal.hasColour, let action = FunctionChange.Action(rawValue: word) else { return word }
        switch action {
        case .create: return "\u{1B}[32m\(word)\u{1B}[0m"
        case .update: return "\u{1B}[33m\(word)\u{1B}[0m"
        case .delete: return "\u{1B}[31m\(word)\u{1B}[0m"
        case .keep, .unchanged: return word
        }
    }

    private static func versions(_ change: FunctionChange) -> String {
        switch (change.fromVersion, change.toVersion) {
        case (let from?, let to?) where from != to: "\(from) -> \(to)"
        case (let from?, _): "\(from)"
        case (nil, let to?): "\(to)"
        case (nil, nil): ""
        }
    }
}
