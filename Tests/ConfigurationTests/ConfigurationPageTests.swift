import Files
import Glibc
import Testing

@testable import Configuration

/// The manual says what the schemas say. `scripts/make-configuration-page` runs this with `HEARTH_WRITE_PAGES` set.
@Suite struct ConfigurationPageTests {
    @Test func pageIsUpToDate() throws {
        let file = FilePaths.root + "/docs/configuration.md"
        let page = ConfigurationPage.markdown()
        if getenv("HEARTH_WRITE_PAGES") != nil { try FilePaths.write(page, to: file) }
        let written = String(decoding: try WholeFile.read(file, sizeBytesMax: 1 << 24), as: UTF8.self)
        #expect(written == page, "run scripts/make-configuration-page")
    }

    @Test func everyKeyIsOnThePage() {
        let page = ConfigurationPage.markdown()
        for key in ["server.port", "plugins.NAME.library", "functions.NAME.cors", "workers.openFiles", "endpoints.NAME.cpu", "params[].type"] {
            #expect(page.contains("### `\(key)`"))
        }
    }
}
