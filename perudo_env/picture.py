import numpy as np
def draw(sc): return np.zeros((480,640,3),np.uint8)
