import Configuration
import Host

/// What `hearth serve` prints once it serves.
enum Banner {
    static func text(_ summary: HostSummary) -> String {
        var lines = ["", "Hearth serves \(summary.project) at \(summary.address.url) in \(summary.mode.rawValue) mode."]
        if let warning = summary.warning {
            lines += ["", "WARNING: \(warning)"]
        } else if summary.mode == .development {
            lines.append("Programs and pages of this machine may use \"owner\" and unsigned tokens; --mode production refuses them.")
        }
        lines.append("")
        lines += functionTable(summary.functions)
        lines.append("")
        lines.append("Database  \(summary.address.url)/?ns=\(summary.defaultNamespace)")
        lines.append("Messages  \(summary.address.url)/v1/projects/\(summary.project)/messages:send")
        lines.append("Health    \(summary.address.url)/_/health")
        lines.append("Data      \(summary.dataDirectory)")
        if !summary.refusals.isEmpty {
            lines.append("")
            lines.append("Left out:")
            lines += summary.refusals.map { "  \($0)" }
        }
        lines.append("")
        return lines.joined(separator: "\n")
    }

    private static func functionTable(_ functions: [HostSummary.Function]) -> [String] {
        guard !functions.isEmpty else {
            return ["No functions: deploy them with hearth deploy, or name a plugin under \"plugins\" in functions.json."]
        }
        let rows = [["Function", "Trigger", "Plugin", "Version", "URL"]]
            + functions.map { [$0.name, $0.trigger, $0.plugin, "\($0.version)", $0.url ?? "-"] }
        let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            (0..<4).map { row[$0] + String(repeating: " ", count: widths[$0] - row[$0].count) }.joined(separator: "  ") + "  " + row[4]
        }
    }
}
