//! SVG charts: plain shapes and text, for light and dark mode, without scripts.

use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
/// Margins for the title, the ticks and the labels.
const TOP: f64 = 64.0;
const LEFT: f64 = 72.0;
const BOTTOM: f64 = 64.0;
/// Margin for the legend.
const RIGHT: f64 = 96.0;
/// Share of a group's width that its bars fill; the rest separates the groups.
const GROUP_FILLED: f64 = 0.84;
/// Recall in percent.
const BARS_MAX: f64 = 100.0;
const BARS_STEP: usize = 20;

/// Colours for light and dark mode. Dashes and the legend distinguish series without colour.
const STYLE: &str = "\
text{font-family:system-ui,sans-serif;font-size:12px;fill:#1f2328}\
.title{font-size:16px;font-weight:600}.small{font-size:10px}\
.ground{fill:#fff}.grid{stroke:#d8dee4}.axis{stroke:#59636e}\
.line{fill:none;stroke-width:2}\
.s0{stroke:#0b62c4}.s1{stroke:#b35900;stroke-dasharray:7 4}.s2{stroke:#1a7f37;stroke-dasharray:2 4}\
.f0{fill:#0b62c4}.f1{fill:#b35900}.f2{fill:#1a7f37}\
@media (prefers-color-scheme:dark){\
text{fill:#e6edf3}.ground{fill:#0d1117}.grid{stroke:#30363d}.axis{stroke:#8b949e}\
.s0{stroke:#6cb0ff}.s1{stroke:#f0a04b}.s2{stroke:#56d364}\
.f0{fill:#6cb0ff}.f1{fill:#f0a04b}.f2{fill:#56d364}}";
/// Number of colours; more series would not be distinguishable.
const COLOURS: usize = 3;

/// Line chart with two logarithmic axes.
pub struct LineChart<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub series: Vec<Series<'a>>,
}

pub struct Series<'a> {
    pub name: &'a str,
    pub points: Vec<(f64, f64)>,
}

/// Grouped bar chart in percent, one bar per key.
pub struct BarChart<'a> {
    pub title: &'a str,
    pub y: &'a str,
    pub keys: &'a [&'a str],
    pub groups: Vec<(&'a str, Vec<f64>)>,
}

impl LineChart<'_> {
    pub fn to_svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let (across, up) = (
            LogScale::from_values(points().map(|point| point.0)),
            LogScale::from_values(points().map(|point| point.1)),
        );
        let x = |value: f64| LEFT + across.fraction_of(value) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| HEIGHT - BOTTOM - up.fraction_of(value) * (HEIGHT - TOP - BOTTOM);
        let mut svg = Svg::new(self.title, self.x, self.y);
        across.ticks().for_each(|tick| svg.add_x_tick(x(tick), tick));
        up.ticks().for_each(|tick| svg.add_y_tick(y(tick), &format_number(tick)));
        svg.add_axes();
        for (at, series) in self.series.iter().enumerate() {
            let placed: Vec<(f64, f64)> = series.points.iter().map(|point| (x(point.0), y(point.1))).collect();
            svg.add_polyline(at % COLOURS, &placed);
            let down = legend_y(at) + 6.0;
            svg.add_polyline(at % COLOURS, &[(WIDTH - RIGHT + 8.0, down), (WIDTH - RIGHT + 30.0, down)]);
            svg.add_text("start", "", WIDTH - RIGHT + 38.0, down + 4.0, series.name);
        }
        svg.into_string()
    }
}

impl BarChart<'_> {
    pub fn to_svg(&self) -> String {
        let mut svg = Svg::new(self.title, "", self.y);
        let y = |value: f64| HEIGHT - BOTTOM - value / BARS_MAX * (HEIGHT - TOP - BOTTOM);
        (0..=BARS_MAX as usize).step_by(BARS_STEP).for_each(|tick| svg.add_y_tick(y(tick as f64), &tick.to_string()));
        svg.add_axes();
        let group_width = (WIDTH - LEFT - RIGHT) / self.groups.len().max(1) as f64;
        let bar_width = group_width * GROUP_FILLED / self.keys.len().max(1) as f64;
        for (at, (name, values)) in self.groups.iter().enumerate() {
            let middle = LEFT + (at as f64 + 0.5) * group_width;
            svg.add_text("middle", "", middle, HEIGHT - BOTTOM + 20.0, name);
            let first = middle - bar_width * self.keys.len() as f64 / 2.0;
            for (key, value) in values.iter().enumerate() {
                let left = first + key as f64 * bar_width;
                let about = format!("{name}, {}: {value:.1}", self.keys.get(key).copied().unwrap_or_default());
                svg.add_bar(key % COLOURS, (left, bar_width - 2.0), (y(*value), y(0.0)), &about);
                svg.add_text("middle", "small", left + bar_width / 2.0 - 1.0, y(*value) - 4.0, &format!("{value:.1}"));
            }
        }
        for (at, key) in self.keys.iter().enumerate() {
            let down = legend_y(at);
            svg.add_bar(at % COLOURS, (WIDTH - RIGHT + 16.0, 12.0), (down, down + 12.0), key);
            svg.add_text("start", "", WIDTH - RIGHT + 34.0, down + 10.0, key);
        }
        svg.into_string()
    }
}

/// Vertical position of a legend entry.
fn legend_y(at: usize) -> f64 {
    TOP + 10.0 + at as f64 * 20.0
}

/// Logarithmic scale between powers of ten.
struct LogScale {
    from: i32,
    to: i32,
}

impl LogScale {
    fn from_values(values: impl Iterator<Item = f64>) -> LogScale {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        // Zero and negative values have no logarithm.
        for value in values.filter(|value| *value > 0.0 && value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if high <= 0.0 {
            return LogScale { from: 0, to: 1 };
        }
        // At least one decade, or all values would be at the same place.
        let from = low.log10().floor() as i32;
        LogScale { from, to: (high.log10().ceil() as i32).max(from + 1) }
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        (self.from..=self.to).map(|power| 10_f64.powi(power))
    }

    /// Position of a value on the scale, 0 to 1.
    fn fraction_of(&self, value: f64) -> f64 {
        let place = (value.max(f64::MIN_POSITIVE).log10() - f64::from(self.from)) / f64::from(self.to - self.from);
        place.clamp(0.0, 1.0)
    }
}

/// Formats a tick: `0.01`, `1`, `10,000`.
fn format_number(value: f64) -> String {
    if value < 1.0 {
        let text = format!("{value:.6}");
        return text.trim_end_matches('0').to_owned();
    }
    let digits = format!("{value:.0}");
    let grouped = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    grouped.collect::<Vec<_>>().join(",")
}

struct Svg(String);

impl Svg {
    fn new(title: &str, x: &str, y: &str) -> Svg {
        let mut svg = Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-labelledby=\"t\">\n\
             <title id=\"t\">{}</title>\n<style>{STYLE}</style>\n\
             <rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n",
            escape_xml(title)
        ));
        svg.add_text("start", "title", LEFT, 30.0, title);
        svg.add_text("start", "", LEFT, 52.0, y);
        svg.add_text("middle", "", (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 18.0, x);
        svg
    }

    fn push_element(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(element);
        self.0.push('\n');
    }

    fn add_text(&mut self, anchor: &str, class: &str, x: f64, y: f64, text: &str) {
        if !text.is_empty() {
            let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
            self.push_element(format_args!(
                "<text{class} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
                escape_xml(text)
            ));
        }
    }

    fn add_line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.push_element(format_args!(
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    fn add_x_tick(&mut self, x: f64, value: f64) {
        self.add_line("grid", (x, TOP), (x, HEIGHT - BOTTOM));
        self.add_text("middle", "", x, HEIGHT - BOTTOM + 20.0, &format_number(value));
    }

    fn add_y_tick(&mut self, y: f64, label: &str) {
        self.add_line("grid", (LEFT, y), (WIDTH - RIGHT, y));
        self.add_text("end", "", LEFT - 8.0, y + 4.0, label);
    }

    fn add_axes(&mut self) {
        let corner = (LEFT, HEIGHT - BOTTOM);
        self.add_line("axis", (LEFT, TOP), corner);
        self.add_line("axis", corner, (WIDTH - RIGHT, HEIGHT - BOTTOM));
    }

    fn add_polyline(&mut self, colour: usize, points: &[(f64, f64)]) {
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.push_element(format_args!("<polyline class=\"line s{colour}\" points=\"{}\"/>", path.join(" ")));
        for (x, y) in points {
            self.push_element(format_args!("<circle class=\"f{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>"));
        }
    }

    /// Adds a bar with a tooltip.
    fn add_bar(&mut self, colour: usize, (left, width): (f64, f64), (top, bottom): (f64, f64), about: &str) {
        self.push_element(format_args!(
            "<rect class=\"f{colour}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\">\
             <title>{}</title></rect>",
            bottom - top,
            escape_xml(about)
        ));
    }

    fn into_string(self) -> String {
        self.0 + "</svg>\n"
    }
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_over_logarithmic_axes() {
        let series = vec![
            Series { name: "search", points: vec![(1_000.0, 0.2), (10_000.0, 0.9), (100_000.0, 4.5)] },
            Series { name: "save <all>", points: vec![(1_000.0, 0.3), (100_000.0, 0.35)] },
        ];
        let plot = LineChart { title: "CPU time & size", x: "memories", y: "milliseconds", series };
        insta::assert_snapshot!(plot.to_svg());
    }

    #[test]
    fn groups_of_bars() {
        let groups = vec![("text", vec![71.0, 78.8, 84.2]), ("words", vec![69.3, 76.9, 82.4])];
        insta::assert_snapshot!(
            BarChart { title: "Recall", y: "percent", keys: &["R@5", "R@10", "R@20"], groups }.to_svg()
        );
    }

    #[test]
    fn empty_and_single_point_series_are_drawn() {
        for points in [vec![], vec![(10.0, 1.0)], vec![(10.0, 0.0)]] {
            let svg = LineChart { title: "", x: "", y: "", series: vec![Series { name: "", points }] }.to_svg();
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn ticks_have_thousands_separators() {
        let formatted = [0.01, 0.1, 1.0, 10.0, 1_000.0, 1_000_000.0].map(format_number);
        assert_eq!(formatted, ["0.01", "0.1", "1", "10", "1,000", "1,000,000"]);
    }
}
