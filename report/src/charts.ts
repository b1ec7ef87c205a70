// The chart library, trimmed to the charts used here. A program of its own, run for the first chart.

import { BarChart, CustomChart, LineChart } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";

use([BarChart, CustomChart, LineChart, GridComponent, TooltipComponent, LabelLayout, SVGRenderer]);

export { init };
