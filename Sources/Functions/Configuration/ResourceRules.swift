/// Which amounts of memory, shares of processors and concurrency go together (spec functions 9).
enum ResourceRules {
    /// A rule that is broken: the option to blame and a sentence.
    struct Violation: Equatable {
        var option: String
        var message: String
    }

    /// What a function gets that names no `cpu`.
    static func processors(memoryBytes: Int) -> Double {
        switch memoryBytes / MemoryAmount.mebibyte {
        case ...2048: 1
        case ...8192: 2
        case ...16384: 4
        default: 8
        }
    }

    /// What the first generation gave to an amount of memory.
    static func firstGenerationProcessors(memoryBytes: Int) -> Double {
        switch memoryBytes / MemoryAmount.mebibyte {
        case ...128: 1.0 / 12
        case ...256: 1.0 / 6
        case ...512: 1.0 / 3
        case ...1024: 0.5833
        case ...2048: 1
        case ...8192: 2
        default: 4
        }
    }

    static func violations(memoryBytes: Int, cpu: ProcessorShare?, concurrency: Int?, generation: Int) -> [Violation] {
        var violations: [Violation] = []
        if generation == 1 {
            if cpu != nil {
                violations.append(Violation(option: "cpu", message: "a function of the first generation takes no cpu"))
            }
            if let concurrency, concurrency != 1 {
                let message = "expected 1, since a function of the first generation runs one call at a time; found \(concurrency)"
                violations.append(Violation(option: "concurrency", message: message))
            }
            return violations
        }
        let share: Double
        switch cpu {
        case .processors(let processors):
            share = processors
            violations += processorViolations(processors, memoryBytes)
        case .firstGeneration: share = firstGenerationProcessors(memoryBytes: memoryBytes)
        case nil: share = processors(memoryBytes: memoryBytes)
        }
        if let concurrency, concurrency > 1, share < 1 {
            let message = "expected 1, since cpu is below 1; found \(concurrency)"
            violations.append(Violation(option: "concurrency", message: message))
        }
        return violations
    }

    private static func processorViolations(_ processors: Double, _ memoryBytes: Int) -> [Violation] {
        let memory = MemoryAmount.text(memoryBytes)
        let mebibytes = memoryBytes / MemoryAmount.mebibyte
        let least = mebibytes > 1024 ? 1 : mebibytes > 512 ? 0.5 : 0.08
        if processors < least {
            let message = "expected at least \(least.plain) with \(memory) of memory, found \(processors.plain)"
            return [Violation(option: "cpu", message: message)]
        }
        let needed: [Double: Int] = [4: 2048, 6: 3072, 8: 4096]
        if let least = needed[processors], mebibytes < least {
            let found = "\(processors.plain) processors need at least \(MemoryAmount.text(least * MemoryAmount.mebibyte)) of memory"
            return [Violation(option: "cpu", message: "\(found), found \(memory)")]
        }
        return []
    }
}
