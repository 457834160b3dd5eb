package datatest

import (
	"fmt"
	"strings"
)

// Book writes a spreadsheet whose sheets are given by name and XML of their rows in
// turn; other entries by their path. Of their cells' styles 1 and 2 are dates, 3 a time, 4 (0.00%) and 6 shares in per cent, and
// 5 numbers that have the sign of per cent behind as a text.
func Book(parts ...string) []byte {
	var sheets, rels strings.Builder
	entries := map[string]string{
		"[Content_Types].xml":  `<Types/>`,
		"xl/sharedStrings.xml": `<sst><si><t>width</t></si><si><t>kind</t></si><si><r><t>ye</t></r><r><t>s</t></r><rPh><t>x</t></rPh></si><si><t xml:space="preserve">no</t></si></sst>`,
		"xl/styles.xml":        `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd&quot;.d.&quot;\d"/><numFmt numFmtId="165" formatCode="[h]:mm"/><numFmt numFmtId="166" formatCode="0&quot;%&quot;"/><numFmt numFmtId="167" formatCode="0.00\ %;[Red]-0.00\ %"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="10"/><xf numFmtId="166"/><xf numFmtId="167"/></cellXfs></styleSheet>`,
	}
	n := 0
	for i := 0; i < len(parts); i += 2 {
		if strings.Contains(parts[i], ".") {
			entries[parts[i]] = parts[i+1]
			continue
		}
		n++
		fmt.Fprintf(&sheets, `<sheet name="%s" sheetId="%d" r:id="r%[2]d"/>`, parts[i], n)
		fmt.Fprintf(&rels, `<Relationship Id="r%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet%[1]d.xml"/>`, n)
		entries[fmt.Sprintf("xl/worksheets/sheet%d.xml", n)] = `<?xml version="1.0" encoding="UTF-8"?><worksheet><sheetData>` + parts[i+1] + `</sheetData></worksheet>`
	}
	if entries["xl/workbook.xml"] == "" {
		entries["xl/workbook.xml"] = `<workbook><workbookPr/><sheets>` + sheets.String() + `</sheets></workbook>`
	}
	if entries["xl/_rels/workbook.xml.rels"] == "" {
		entries["xl/_rels/workbook.xml.rels"] = `<Relationships>` + rels.String() + `</Relationships>`
	}
	var all []any
	for name, content := range entries {
		if content != "none" {
			all = append(all, name, content)
		}
	}
	return Zip(all...)
}

// RowsOfSheet writes rows of a sheet: width and kind, n of them.
func RowsOfSheet(n int) string {
	b := `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>`
	for i := range n {
		b += fmt.Sprintf(`<row r="%d"><c r="A%[1]d"><v>%[2]g</v></c><c r="B%[1]d" t="s"><v>%[3]d</v></c></row>`, i+2, float64(i)/4, 2+i%2)
	}
	return b
}
