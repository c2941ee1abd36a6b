// draw.mjs SCENE FRAMES < SHAPES: draws the shapes that `bench_render --shapes` prints with Skia, on the processor, and prints one line
// of JSON, as bench_render does.
import { readFileSync } from 'node:fs'
import { createCanvas } from '@napi-rs/canvas'

const [name, count] = process.argv.slice(2)
const shapes = JSON.parse(readFileSync(0, 'utf8'))
const canvas = createCanvas(shapes.width, shapes.height)
const c = canvas.getContext('2d')
c.lineWidth = shapes.stroke_px
c.lineCap = 'round'

function draw() {
  c.strokeStyle = `rgba(255, 255, 255, ${shapes.opacity})`
  c.fillStyle = `rgba(255, 128, 0, ${shapes.fill_opacity})`
  for (const [x0, y0, x1, y1] of shapes.edges) {
    c.beginPath()
    c.moveTo(x0, y0)
    const dx = x1 - x0, dy = y1 - y0
    if (shapes.curved) c.quadraticCurveTo(x0 + dx / 2 - dy * 0.3, y0 + dy / 2 + dx * 0.3, x1, y1)
    else c.lineTo(x1, y1)
    c.stroke()
  }
  for (const [x, y, w, h, r] of shapes.boxes) {
    c.beginPath()
    c.roundRect(x, y, w, h, r)
    c.fill()
    c.stroke()
  }
  c.getImageData(0, 0, 1, 1)  // what was recorded is drawn
}

draw()
const ms = []
const cpu = process.cpuUsage()
for (let frame = 0; frame < Number(count); ++frame) {
  const begun = process.hrtime.bigint()
  draw()
  ms.push(Number(process.hrtime.bigint() - begun) / 1e6)
}
const used = process.cpuUsage(cpu)
ms.sort((a, b) => a - b)
console.log(JSON.stringify({
  scene: name, by: 'skia', width: shapes.width, height: shapes.height, threads: 1, window: 1, frames: ms.length,
  ms: ms[ms.length >> 1], slowest_ms: ms[ms.length - 1], cpu_ms: (used.user + used.system) / 1e3 / ms.length,
}))
