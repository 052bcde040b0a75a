"""Audit two models of the generated world in Python, and read what came of it; prints what docs/start/notebook.md shows."""

# 1. Audit two models on the same images
import snellen

print("== 1 ==")
models = {"black": "observer:black(otherwise=texture)", "texture": "observer:texture"}
data = "phantom:test?size=32&n=300&texture_bias=1"
run = snellen.audit(models, data, "occlusion([0.3], [black, stripes])", out="runs/tutorial", quiet=True)
print("models:", ", ".join(models))

# 2. Every finding is a row of a DataFrame
print("== 2 ==")
findings = run.findings()
squares = findings[findings["name"] == "occluded_accuracy"]
print(squares[["model", "fill", "value", "low", "high", "di", "di_dominant"]].round(2).to_string(index=False))

# 3. Every answer too: where do the errors under a black square go?
print("== 3 ==")
answers = run.predictions()
black = answers[(answers["model"] == "black") & answers["distortion"].str.contains("fill=black")]
print(black[black["score"] == 0]["pred"].value_counts().head(3).to_string())

# 4. Charts are those of the report; a notebook shows them, and `run` itself as its first screen
print("== 4 ==")
plot = run.plot("occlusion")
print(plot.titles)
print([path.name for path in plot.save("runs/occlusion.svg")])

# 5. The report is one file
print("== 5 ==")
print(run.report())
