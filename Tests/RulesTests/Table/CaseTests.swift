import Rules
import Testing

/// Every row of `cases/database-rules.json`.
@Suite struct CaseTests {
    @Test func theTableIsThere() {
        #expect(CaseFile.decisions.count >= 164)
        #expect(CaseFile.refusals.count >= 60)
        #expect(CaseFile.uploads.count >= 8)
    }

    @Test(arguments: CaseFile.decisions)
    func decides(_ row: DecisionCase) throws {
        let verdict = try row.verdict()
        #expect(verdict.isAllowed == row.isAllowed, "\(row.why)\n\(verdict.trace?.description ?? "")")
        if let trace = verdict.trace { #expect(trace.isAllowed == verdict.isAllowed) }
    }

    @Test(arguments: CaseFile.refusals)
    func refuses(_ row: UploadCase) throws {
        let error = #expect(throws: RulesError.self) { try RuleSet(parsing: row.source) }
        let description = try #require(error?.description)
        #expect(description.contains(row.expected))
        #expect(description.contains(#/^\d+:\d+: ./#))
    }

    @Test(arguments: CaseFile.uploads)
    func accepts(_ row: UploadCase) throws {
        let rules = try RuleSet(parsing: row.source)
        _ = try RuleSet(parsing: rules.strictJSON())
    }
}
