/* the page of a sequence: the assembly taken apart, to be played, and instructions to be printed
 *
 * The page is one file. Its meshes are indexed triangles in base64, drawn by a small WebGL script, so that it can be turned
 * and played without a controller. Assemblies that would make it too large have pictures only. */
#include "plan_steps.h"

#include <math.h>
#include <stdlib.h>

#include "picture/picture.h"
#include "report.h"

enum {
    MAX_PAGE_TRIANGLES = 400000,
    MAX_STEP_PICTURES = 200,
    STEP_WIDTH = 640,
    STEP_HEIGHT = 440,
    STEP_NAME_SIZE = 400
};

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:62em;margin:2em auto;padding:0 1em}"
    "canvas{width:100%;aspect-ratio:16/10;display:block;border:1px solid #8886;border-radius:6px;"
    "touch-action:none}"
    "#bar{display:flex;gap:.8em;align-items:center;margin:.6em 0}#at{flex:1}"
    "ol{padding:0;list-style:none}li{display:grid;grid-template-columns:20em 1fr;gap:1.2em;"
    "margin:1.2em 0;break-inside:avoid}li img{width:100%;border-radius:6px}"
    "h3{margin:.2em 0}.soft{opacity:.7}.left{color:#c33}"
    "@media print{#player{display:none}body{margin:0;max-width:none}}"
    "@media(max-width:40em){li{grid-template-columns:1fr}}";

/* parts turn about the middle of the view; a drag turns it, the wheel zooms */
static const char script[] =
    "const "
    "D=JSON.parse(document.getElementById('data').textContent),c=document.querySelector('canvas"
    "'),g=c.getContext('webgl',{antialias:true});"
    "const F=b=>new Float32Array(Uint8Array.from(atob(b),x=>x.charCodeAt(0)).buffer),"
    "U=b=>new Uint32Array(Uint8Array.from(atob(b),x=>x.charCodeAt(0)).buffer);"
    "if(!g||!g.getExtension('OES_element_index_uint')||!g.getExtension('OES_standard_derivatives'))"
    "document.getElementById('player').textContent='This browser has no WebGL: see the pictures "
    "below.';"
    "else{const sh=(t,s)=>{const o=g.createShader(t);g.shaderSource(o,s);g.compileShader(o);return "
    "o},"
    "p=g.createProgram();"
    "g.attachShader(p,sh(g.VERTEX_SHADER,'attribute vec3 a;uniform mat4 m,v;varying vec3 w;void "
    "main()"
    "{vec4 q=v*m*vec4(a,1.);w=q.xyz;float "
    "z=3.-q.z;gl_Position=vec4(q.x*1.8/ASPECT,q.y*1.8,(z-3.)*.9,z)"
    ";}'.replace('ASPECT','1.6')));"
    "g.attachShader(p,sh(g.FRAGMENT_SHADER,'#extension GL_OES_standard_derivatives : "
    "enable\\nprecision "
    "highp float;varying vec3 w;uniform vec3 k;void main(){vec3 "
    "n=normalize(cross(dFdx(w),dFdy(w)));"
    "gl_FragColor=vec4(k*(.35+.65*abs(dot(n,normalize(vec3(.3,.5,1.))))),1.);}'));"
    "g.linkProgram(p);g.useProgram(p);g.enable(g.DEPTH_TEST);"
    "const buf=(t,x)=>{const o=g.createBuffer();g.bindBuffer(t,o);g.bufferData(t,x,g.STATIC_DRAW);"
    "return o},M=D.meshes.map(m=>{const i=U(m.t);return{v:buf(g.ARRAY_BUFFER,F(m.v)),i:buf("
    "g.ELEMENT_ARRAY_BUFFER,i),n:i.length}});"
    "const mat=(p,q)=>{const[w,x,y,z]=q;return[1-2*(y*y+z*z),2*(x*y+w*z),2*(x*z-w*y),0,2*(x*y-w*z),"
    "1-2*(x*x+z*z),2*(y*z+w*x),0,2*(x*z+w*y),2*(y*z-w*x),1-2*(x*x+y*y),0,p[0],p[1],p[2],1]},"
    "mul=(a,b)=>{const r=[];for(let j=0;j<4;j++)for(let "
    "i=0;i<4;i++)r[4*j+i]=a[i]*b[4*j]+a[4+i]*b[4*j+1]"
    "+a[8+i]*b[4*j+2]+a[12+i]*b[4*j+3];return r},"
    "inv=m=>{const r=[m[0],m[4],m[8],0,m[1],m[5],m[9],0,m[2],m[6],m[10],0,0,0,0,1];for(let "
    "i=0;i<3;i++)"
    "r[12+i]=-(r[i]*m[12]+r[4+i]*m[13]+r[8+i]*m[14]);return r},"
    "pose=(s,f)=>{const x=f*(s.poses.length-1),i=Math.min(Math.floor(x),s.poses.length-2),u=x-i;"
    "if(i<0)return s.poses[0];const "
    "a=s.poses[i],b=s.poses[i+1],d=a[1].reduce((t,e,k)=>t+e*b[1][k],0)<0?"
    "-1:1,q=a[1].map((e,k)=>e*(1-u)+d*b[1][k]*u),l=Math.hypot(...q);"
    "return[a[0].map((e,k)=>e*(1-u)+b[0][k]*u),q.map(e=>e/l)]};"
    "let yaw=.7,tilt=.45,zoom=1.6,t=0,on=false,last=0;const at=document.getElementById('at'),play="
    "document.getElementById('play'),say=document.getElementById('say');at.max=D.steps.length;"
    "const draw=()=>{const "
    "W=c.clientWidth*devicePixelRatio|0;if(c.width!=W){c.width=W;c.height=W/1.6}"
    "g.viewport(0,0,c.width,c.height);g.clearColor(0,0,0,0);g.clear(16640);"
    "const s=zoom/D.radius,a=Math.cos(yaw),b=Math.sin(yaw),e=Math.cos(tilt),f=Math.sin(tilt);"
    "let "
    "V=[a*s,-b*f*s,b*e*s,0,b*s,a*f*s,-a*e*s,0,0,e*s,f*s,0,0,0,0,1];V=mul(V,[1,0,0,0,0,1,0,0,0,0,1,"
    "0,-D.middle[0],-D.middle[1],"
    "-D.middle[2],1]);"
    "g.uniformMatrix4fv(g.getUniformLocation(p,'v'),false,V);const n=Math.min(Math.floor(t),"
    "D.steps.length-1);"
    "D.parts.forEach((o,k)=>{let m=mat(o.p,o.q),hot=false;for(let i=0;i<D.steps.length;i++){const "
    "st="
    "D.steps[i];if(!st.parts.includes(k))continue;if(i<n||t>=D.steps.length)return;if(i==n){hot="
    "true;"
    "const b0=D.parts[st.of],x=pose(st,t-n);m=mul(mul(mat(x[0],x[1]),inv(mat(b0.p,b0.q))),m)}}"
    "g.uniformMatrix4fv(g.getUniformLocation(p,'m'),false,m);g.uniform3fv(g.getUniformLocation(p,'"
    "k'),"
    "hot?[.95,.55,.2]:o.colour);const h=M[o.mesh];g.bindBuffer(g.ARRAY_BUFFER,h.v);"
    "g.enableVertexAttribArray(0);g.vertexAttribPointer(0,3,g.FLOAT,false,0,0);g.bindBuffer("
    "g.ELEMENT_ARRAY_BUFFER,h.i);g.drawElements(g.TRIANGLES,h.n,g.UNSIGNED_INT,0)});"
    "at.value=t;say.textContent=t>=D.steps.length?'done':(n+1)+'. '+D.steps[n].name};"
    "const tick=now=>{if(on){t=Math.min(t+Math.min(now-last,100)/2500,D.steps.length);if(t>="
    "D.steps.length){on=false;play.textContent='Play'}draw()}last=now;requestAnimationFrame(tick)};"
    "play.onclick=()=>{if(!on&&t>=D.steps.length)t=0;on=!on;play.textContent=on?'Pause':'Play'};"
    "at.oninput=()=>{t=+at.value;on=false;play.textContent='Play';draw()};"
    "c.onpointermove=e=>{if(e.buttons){yaw+=e.movementX*.01;tilt=Math.max(-1.5,Math.min(1.5,tilt+"
    "e.movementY*.01));draw()}};c.onpointerdown=e=>c.setPointerCapture(e.pointerId);"
    "c.onwheel=e=>{zoom*=Math.exp(-e.deltaY*.001);e.preventDefault();draw()};onresize=draw;draw();"
    "requestAnimationFrame(tick)}";

/* ---- the data of the player ---- */

/* pale, so that what leaves stands out */
static flr_colour colour_of(const flr_steps *s, size_t part)
{
    const flr_colour c = flr_picture_colour(s->scene->scene->parts[part].colour, part);
    return (flr_colour){0.4F * c.r + 0.45F, 0.4F * c.g + 0.46F, 0.4F * c.b + 0.48F};
}

static void put_numbers(FILE *out, const void *bytes, size_t size)
{
    const flr_blob blob = {(uint8_t *)(uintptr_t)bytes, size};
    flr_html_base64(out, &blob);
}

static flr_result put_mesh(FILE *out, const flr_mesh *mesh, flr_error *error)
{
    float *v = malloc(((size_t)mesh->vertex_count * 3 + 1) * sizeof *v);
    if (!v) return flr_fail_memory(error);
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        v[3 * i] = (float)mesh->vertices[i].x;
        v[3 * i + 1] = (float)mesh->vertices[i].y;
        v[3 * i + 2] = (float)mesh->vertices[i].z;
    }
    fputs("{\"v\":\"", out);
    put_numbers(out, v, (size_t)mesh->vertex_count * 3 * sizeof *v);
    fputs("\",\"t\":\"", out);
    put_numbers(out, mesh->triangles, (size_t)mesh->triangle_count * sizeof *mesh->triangles);
    fputs("\"}", out);
    free(v);
    return FLR_OK;
}

static void put_pose(FILE *out, flr_pose T, const char *format)
{
    fprintf(out, format, T.p.x, T.p.y, T.p.z, T.q.w, T.q.x, T.q.y, T.q.z);
}

/* a name in a JSON string in a script element */
static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\' || *c == '<')
            fprintf(out, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, out);
    fputc('"', out);
}

static void put_step_data(FILE *out, const flr_steps *s, const flr_plan_step *step)
{
    char name[STEP_NAME_SIZE];
    bool first = true;
    fputs("{\"name\":", out);
    put_string(out, flr_steps_name(s, step, name, sizeof name));
    fprintf(out, ",\"of\":%u,\"parts\":[", step->part);
    for (uint32_t i = 0; i < s->scene->scene->part_count; i++)
        for (uint32_t k = 0; k < step->unit_count; k++) {
            if (step->units[k] != s->unit[i]) continue;
            fprintf(out, "%s%u", first ? "" : ",", i);
            first = false;
        }
    fputs("],\"poses\":[", out);
    for (size_t i = 0; i < step->pose_count; i++) {
        if (i) fputc(',', out);
        put_pose(out, step->poses[i], "[[%.7g,%.7g,%.7g],[%.7g,%.7g,%.7g,%.7g]]");
    }
    fputs("]}", out);
}

static flr_box3 box_of(const flr_steps *s)
{
    flr_box3 box = flr_box3_empty();
    for (size_t i = 0; i < s->scene->scene->part_count; i++)
        box = flr_box3_union(
            box, flr_box3_transform(s->parts[i].T, flr_fit_get_info(s->parts[i].fit).bounds));
    return box;
}

static flr_result put_data(FILE *out, const flr_steps *s, flr_error *error)
{
    const flr_box3 box = box_of(s);
    const flr_vec3 middle = flr_box3_centre(box);
    flr_result result = FLR_OK;
    fprintf(out, "{\"middle\":[%.7g,%.7g,%.7g],\"radius\":%.7g,\"meshes\":[", middle.x, middle.y,
            middle.z, 0.7 * flr_vec3_length(flr_box3_size(box)));
    for (uint32_t i = 0; i < s->scene->mesh_count && result == FLR_OK; i++) {
        if (i) fputc(',', out);
        result = put_mesh(out, s->scene->meshes[i], error);
    }
    fputs("],\"parts\":[", out);
    for (size_t i = 0; i < s->scene->scene->part_count; i++) {
        const flr_colour c = colour_of(s, i);
        fprintf(out, "%s{\"mesh\":%u,\"colour\":[%.3f,%.3f,%.3f],", i ? "," : "",
                s->scene->mesh_of[i], (double)c.r, (double)c.g, (double)c.b);
        put_pose(out, s->parts[i].T, "\"p\":[%.9g,%.9g,%.9g],\"q\":[%.9g,%.9g,%.9g,%.9g]}");
    }
    fputs("],\"steps\":[", out);
    for (uint32_t i = 0; i < s->sequence.step_count; i++) {
        if (i) fputc(',', out);
        put_step_data(out, s, &s->sequence.steps[i]);
    }
    fputs("]}", out);
    return result;
}

/* ---- pictures ---- */

static bool is_in(const flr_plan_step *step, uint32_t unit)
{
    for (uint32_t i = 0; i < step->unit_count; i++)
        if (step->units[i] == unit) return true;
    return false;
}

/* What is there before a step, and what it removes, on its way out. */
static flr_result draw_step(const flr_steps *s, uint32_t index, flr_blob *png, flr_error *error)
{
    const size_t count = s->scene->scene->part_count;
    const flr_plan_step *step = &s->sequence.steps[index];
    flr_picture_part *parts = calloc(count, sizeof *parts);
    if (!parts) return flr_fail_memory(error);
    flr_picture_def def = flr_default_picture_def();
    flr_picture picture = {0};
    const flr_pose moved =
        flr_pose_mul(step->poses[step->pose_count - 1], flr_pose_inverse(s->parts[step->part].T));
    for (uint32_t i = 0; i < count; i++) {
        bool gone = false;
        for (uint32_t k = 0; k < index; k++) gone |= is_in(&s->sequence.steps[k], s->unit[i]);
        if (gone) continue;
        const bool leaves = is_in(step, s->unit[i]);
        parts[def.part_count++] =
            (flr_picture_part){s->scene->meshes[s->scene->mesh_of[i]],
                               leaves ? flr_pose_mul(moved, s->parts[i].T) : s->parts[i].T,
                               leaves ? (flr_colour){0.95F, 0.55F, 0.2F} : colour_of(s, i), false};
    }
    def.parts = parts;
    def.width = STEP_WIDTH, def.height = STEP_HEIGHT, def.samples = 2;
    def.ground = def.occlusion = false;
    flr_result result = flr_picture_render(&def, &picture, error);
    if (result == FLR_OK) result = flr_picture_png(&picture, png, error);
    flr_picture_free(&picture);
    free(parts);
    return result;
}

static void put_path(FILE *out, const flr_plan_step *step)
{
    const flr_pose from = step->poses[0], to = step->poses[step->pose_count - 1];
    const flr_vec3 by = flr_vec3_sub(to.p, from.p);
    double turn = 0;
    for (size_t i = 1; i < step->pose_count; i++)
        turn += flr_quat_angle(step->poses[i - 1].q, step->poses[i].q);
    if (step->method == FLR_PLAN_STRAIGHT)
        fprintf(out, "Straight by %.4g, %.4g, %.4g mm.", 1e3 * by.x, 1e3 * by.y, 1e3 * by.z);
    else
        fprintf(out,
                "To %.4g, %.4g, %.4g mm from its place, along %zu poses; turns by %.3g° in all.",
                1e3 * by.x, 1e3 * by.y, 1e3 * by.z, step->pose_count, turn / FLR_DEGREE);
    if (isfinite(step->verdict.lower))
        fprintf(out, " Least distance %.4g mm.", 1e3 * step->verdict.lower);
}

static flr_result put_step(FILE *out, const flr_steps *s, uint32_t index, flr_error *error)
{
    const flr_plan_step *step = &s->sequence.steps[index];
    char name[STEP_NAME_SIZE];
    flr_blob png = {0};
    flr_result result = FLR_OK;
    flr_progress(s->cli, index, s->sequence.step_count, "drawing step %u", index + 1);
    fputs("<li><div>", out);
    if (index < MAX_STEP_PICTURES) {
        result = draw_step(s, index, &png, error);
        if (result != FLR_OK) return result;
        fputs("<img alt=\"\" src=\"data:image/png;base64,", out);
        flr_html_base64(out, &png);
        fputs("\">", out);
        flr_blob_free(&png);
    }
    fprintf(out, "</div><div><h3>%u. ", index + 1);
    flr_html_text(out, flr_steps_name(s, step, name, sizeof name));
    fputs("</h3><p>", out);
    put_path(out, step);
    fprintf(out, "</p><p class=\"soft\">Stage %u", step->stage + 1);
    for (uint32_t k = 0; k < step->after_count; k++)
        fprintf(out, "%s%u", k ? ", " : "; after step ", step->after[k] + 1);
    fputs(".</p></div></li>\n", out);
    return FLR_OK;
}

/* ---- the page ---- */

static bool is_small(const flr_steps *s)
{
    uint64_t triangles = 0;
    for (uint32_t i = 0; i < s->scene->mesh_count; i++)
        triangles += s->scene->meshes[i]->triangle_count;
    return triangles <= MAX_PAGE_TRIANGLES && s->sequence.step_count > 0;
}

static flr_result put_page(FILE *out, const flr_steps *s, flr_error *error)
{
    const flr_plan_sequence *q = &s->sequence;
    flr_result result = FLR_OK;
    flr_html_begin(out);
    flr_html_text(out, s->scene->scene->name);
    fprintf(out, " · feeler plan</title>\n<style>%s</style></head><body>\n<h1>", style);
    flr_html_text(out, s->scene->scene->name);
    fprintf(out, "</h1>\n<p>%u %s. Clearance %.4g mm, checked exactly.</p>\n", q->step_count,
            flr_noun(q->step_count, "step", "steps"), 1e3 * s->def->clearance);
    for (uint32_t i = 0; i < q->left_count; i++) {
        fputs("<p class=\"left\">No way found for ", out);
        flr_html_text(out, s->names[q->left[i]]);
        if (q->blocker[i] != FLR_NONE) {
            fputs(", blocked by ", out);
            flr_html_text(out, s->names[q->blocker[i]]);
        }
        fputs(".</p>\n", out);
    }
    if (is_small(s)) {
        fputs(
            "<div id=\"player\"><canvas></canvas><div id=\"bar\"><button id=\"play\">Play</button>"
            "<input id=\"at\" type=\"range\" min=\"0\" step=\"0.001\" value=\"0\" "
            "aria-label=\"step\"><span id=\"say\"></span></div></div>\n"
            "<script type=\"application/json\" id=\"data\">",
            out);
        result = put_data(out, s, error);
        fprintf(out, "</script>\n<script>%s</script>\n", script);
    }
    fputs("<ol>\n", out);
    for (uint32_t i = 0; i < q->step_count && result == FLR_OK; i++)
        result = put_step(out, s, i, error);
    fputs("</ol>\n</body></html>\n", out);
    return result;
}

flr_result flr_steps_write_page(const flr_steps *steps, const char *path, flr_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return flr_fail_memory(error);
    flr_result result = put_page(out, steps, error);
    const bool whole = fclose(out) == 0;
    if (result == FLR_OK && !whole) result = flr_fail_memory(error);
    if (result == FLR_OK) {
        flr_hold_signals();
        result = flr_file_write_all(steps->cli->env, path, text, size, error);
        flr_release_signals();
    }
    free(text);
    return result;
}
