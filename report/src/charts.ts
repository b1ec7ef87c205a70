// The chart library, trimmed to what is drawn here: a program of its own, which runs when a chart is first seen.

import { BarChart, CustomChart, LineChart } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";

use([BarChart, CustomChart, LineChart, GridComponent, TooltipComponent, LabelLayout, SVGRenderer]);

export { init };
